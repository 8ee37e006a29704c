-- The session `$2`, in the columns of a take, and then its takes after `$3`, by id, at most `$4`.
SELECT 0 AS id, version AS filed_at, id AS session, 0::bigint AS revision,
    swarm.snapshot_1(tenant, id) AS public_key, NULL AS signature, record AS payload
FROM swarm.sessions WHERE tenant = $1 AND id = $2
UNION ALL (
    SELECT id, filed_at, session, revision, public_key, signature, payload
    FROM swarm.takes WHERE tenant = $1 AND session = $2 AND id > $3 ORDER BY id LIMIT $4)
ORDER BY id
