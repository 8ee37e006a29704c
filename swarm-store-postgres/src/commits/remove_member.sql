-- Removes a member, and its challenge.
WITH removed AS (DELETE FROM swarm.members
    WHERE tenant = $1 AND id = $3 ->> 'id' AND version = ($3 ->> 'expected')::bigint RETURNING id),
forgotten AS (DELETE FROM swarm.challenges USING removed WHERE tenant = $1 AND member = removed.id)
SELECT CASE WHEN EXISTS (SELECT FROM removed) THEN 'saved' ELSE 'stale' END, 0, NULL
