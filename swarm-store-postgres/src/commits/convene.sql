-- Writes a new session; with an occasion, also the document that claims it, unless it is claimed.
WITH judged AS (SELECT CASE WHEN EXISTS (SELECT FROM swarm.documents
    WHERE tenant = $1 AND collection = $3 ->> 'collection' AND name = $3 ->> 'occasion')
    THEN 'claimed' ELSE 'saved' END AS outcome),
counted AS (UPDATE swarm.tenants SET sessions = sessions + 1,
    documents = CASE WHEN $3 ->> 'occasion' IS NULL THEN documents ELSE documents ||
        jsonb_build_object($3 ->> 'collection',
            coalesce((documents ->> ($3 ->> 'collection'))::bigint, 0) + 1) END
    FROM judged WHERE tenant = $1 AND outcome = 'saved'
    RETURNING sessions AS id, (documents ->> ($3 ->> 'collection'))::bigint AS claim),
convened AS (INSERT INTO swarm.sessions
    SELECT session.* FROM counted, jsonb_populate_record(NULL::swarm.sessions, $3 ||
        jsonb_build_object('id', id, 'record', swarm.complete_1($3 ->> 'record', id, $2))) AS session),
claimed AS (INSERT INTO swarm.documents (tenant, collection, id, name, family, created_at, record)
    SELECT $1, $3 ->> 'collection', claim, $3 ->> 'occasion', '', $2, id::text FROM counted
    WHERE $3 ->> 'occasion' IS NOT NULL)
SELECT outcome, (SELECT id FROM counted), NULL FROM judged
