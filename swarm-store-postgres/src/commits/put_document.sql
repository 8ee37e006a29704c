-- Writes a document. Its details are the time of the one that was replaced. Ids count from 1 in order of time, so one row
-- decides whether the quota is reached.
WITH counters AS (SELECT document_bytes AS bytes,
    coalesce((documents ->> ($3 ->> 'collection'))::bigint, 0) + 1 AS next
    FROM swarm.tenants WHERE tenant = $1),
named AS (SELECT coalesce($3 ->> 'key', next::text) AS name, next, bytes FROM counters),
stored AS (SELECT id, created_at, octet_length(record) AS size FROM swarm.documents
    WHERE tenant = $1 AND collection = $3 ->> 'collection' AND name = (SELECT name FROM named)),
sizes AS (SELECT octet_length($3 ->> 'record') AS size, coalesce((SELECT size FROM stored), 0) AS replaced),
judged AS (SELECT CASE
    WHEN ($3 ->> 'at')::bigint <> coalesce(CASE
        WHEN $3 ->> 'session' IS NULL THEN (SELECT version FROM swarm.members
            WHERE tenant = $1 AND id = $3 ->> 'member')
        ELSE (SELECT version FROM swarm.sessions
            WHERE tenant = $1 AND id = ($3 ->> 'session')::bigint) END, 0) THEN 'stale'
    WHEN EXISTS (SELECT FROM stored) AND NOT ($3 ->> 'replace')::boolean THEN 'exists'
    WHEN NOT EXISTS (SELECT FROM stored) AND CASE
        WHEN ($3 ->> 'most')::bigint = 0 THEN true
        WHEN ($3 ->> 'in_group')::boolean THEN (SELECT created_at FROM swarm.documents
            WHERE tenant = $1 AND collection = $3 ->> 'collection' AND family = $3 ->> 'family'
            ORDER BY id DESC LIMIT 1 OFFSET ($3 ->> 'most')::bigint - 1)
            BETWEEN ($3 ->> 'since')::bigint AND ($3 ->> 'until')::bigint - 1
        ELSE (SELECT created_at FROM swarm.documents
            WHERE tenant = $1 AND collection = $3 ->> 'collection' AND id = next - ($3 ->> 'most')::bigint)
            BETWEEN ($3 ->> 'since')::bigint AND ($3 ->> 'until')::bigint - 1 END THEN 'full'
    WHEN ($3 ->> 'is_limited')::boolean AND size > replaced
        AND bytes - replaced + size > ($3 ->> 'most_bytes')::bigint THEN 'no room'
    ELSE 'saved' END AS outcome FROM named, sizes),
counted AS (UPDATE swarm.tenants SET
    documents = CASE WHEN EXISTS (SELECT FROM stored) THEN documents
        ELSE documents || jsonb_build_object($3 ->> 'collection', next) END,
    document_bytes = document_bytes
        + CASE WHEN ($3 ->> 'is_limited')::boolean THEN size - replaced ELSE 0 END
    FROM judged, named, sizes WHERE tenant = $1 AND outcome = 'saved'),
replaced AS (UPDATE swarm.documents SET record = $3 ->> 'record' FROM judged
    WHERE tenant = $1 AND collection = $3 ->> 'collection' AND id = (SELECT id FROM stored)
        AND outcome = 'saved'),
created AS (INSERT INTO swarm.documents (tenant, collection, id, name, family, created_at, record)
    SELECT $1, $3 ->> 'collection', next, name, $3 ->> 'family', $2, $3 ->> 'record'
    FROM judged, named WHERE outcome = 'saved' AND NOT EXISTS (SELECT FROM stored))
SELECT outcome, coalesce((SELECT id FROM stored), next), (SELECT created_at FROM stored)
FROM judged, named
