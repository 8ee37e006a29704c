-- Holds back the takes of a session, until it is written or the time is over.
WITH held AS (UPDATE swarm.sessions SET held_until = $2 + ($3 ->> 'millis')::bigint
    WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint)
SELECT 'held', 0, NULL
