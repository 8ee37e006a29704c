-- As `session_and_takes.sql`, with the latest take of each member only.
SELECT 0 AS id, version AS filed_at, id AS session, 0::bigint AS revision,
    swarm.snapshot_1(tenant, id) AS public_key, NULL AS signature, record AS payload
FROM swarm.sessions WHERE tenant = $1 AND id = $2
UNION ALL (
    SELECT id, filed_at, session, revision, public_key, signature, payload
    FROM swarm.takes AS take WHERE tenant = $1 AND session = $2 AND id > $3 AND NOT EXISTS
        (SELECT 1 FROM swarm.takes AS later WHERE later.tenant = $1 AND later.session = $2
         AND later.member = take.member AND later.revision = take.revision + 1)
    ORDER BY id LIMIT $4)
ORDER BY id
