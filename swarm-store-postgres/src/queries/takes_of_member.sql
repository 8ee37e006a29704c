-- The latest take of the member `$2` in each session before `$3`, the last session first, at most `$4`; the first `$5`
-- characters of the session and of its snapshot, whether it has a roster, which begins with `$6`, when it was published, and
-- whether it expects the member: whether it contains `$7`.
SELECT take.id, take.filed_at, take.session, take.revision,
    take.public_key, take.signature, take.payload,
    left(s.record, $5::int), left(swarm.snapshot_1($1, s.id), $5::int), strpos(s.record, $6) > 0,
    s.published_at, strpos(s.record, $7) > 0
FROM swarm.takes AS take
JOIN swarm.sessions AS s ON s.tenant = $1 AND s.id = take.session
WHERE take.tenant = $1 AND take.member = $2 AND take.session < $3 AND NOT EXISTS
    (SELECT 1 FROM swarm.takes AS later WHERE later.tenant = $1 AND later.member = $2
     AND later.session = take.session AND later.revision = take.revision + 1)
ORDER BY take.session DESC LIMIT $4
