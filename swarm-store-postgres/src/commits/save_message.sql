-- Writes a message.
WITH saved AS (UPDATE swarm.messages SET version = ($3 ->> 'version')::bigint,
    state = $3 ->> 'state', record = $3 ->> 'record'
    WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint AND version = ($3 ->> 'expected')::bigint
    RETURNING id)
SELECT CASE WHEN EXISTS (SELECT FROM saved) THEN 'saved' ELSE 'stale' END, 0, NULL
