-- Holds back the takes of a session, until it is written or the time is over, if it has this version.
WITH held AS (UPDATE swarm.sessions SET held_until = $2 + ($3 ->> 'millis')::bigint
    WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint AND version = ($3 ->> 'version')::bigint)
SELECT 'held', 0, NULL
