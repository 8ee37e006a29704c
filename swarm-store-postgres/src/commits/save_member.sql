-- Writes a member, and queues its mail. The details of `key held` are the other member that holds the key.
WITH holder AS (SELECT id FROM swarm.members WHERE tenant = $1
    AND held_key = ($3 ->> 'held_key')::bytea AND id <> $3 ->> 'id'),
judged AS (SELECT CASE
    WHEN (SELECT version FROM swarm.members WHERE tenant = $1 AND id = $3 ->> 'id')
        IS DISTINCT FROM ($3 ->> 'expected')::bigint THEN 'stale'
    WHEN $3 ->> 'proven' IS NOT NULL AND NOT EXISTS (SELECT FROM swarm.challenges
        WHERE tenant = $1 AND member = $3 ->> 'id' AND seed = ($3 ->> 'proven')::bytea
            AND expires_at >= $2) THEN 'stale'
    WHEN EXISTS (SELECT FROM holder) THEN 'key held'
    WHEN $3 ->> 'quota' IS NOT NULL AND ($3 ->> 'quota')::bigint <= (SELECT count(*)
        FROM swarm.members WHERE tenant = $1 AND state = $3 ->> 'state' AND id <> $3 ->> 'id')
        THEN 'full'
    ELSE 'saved' END AS outcome),
saved AS (INSERT INTO swarm.members
    SELECT member.* FROM judged, jsonb_populate_record(NULL::swarm.members, $3) AS member
    WHERE outcome = 'saved'
    ON CONFLICT (tenant, id) DO UPDATE SET version = excluded.version, state = excluded.state,
        token = excluded.token, held_key = excluded.held_key, record = excluded.record),
counted AS (UPDATE swarm.tenants SET messages = messages + 1 FROM judged
    WHERE tenant = $1 AND outcome = 'saved' AND $3 ->> 'mail' IS NOT NULL RETURNING messages),
queued AS (INSERT INTO swarm.messages (tenant, id, version, state, record)
    SELECT $1, messages, 1, $3 ->> 'mail_state', swarm.complete_1($3 ->> 'mail', messages, $2)
    FROM counted)
SELECT outcome, 0, (SELECT id FROM holder) FROM judged
