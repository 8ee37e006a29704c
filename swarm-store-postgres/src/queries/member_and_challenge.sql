-- The member `$2`, if there is one, and the challenge that was given out for this id, if any. Always one row.
SELECT m.version, m.record, c.seed, c.reusable_until, c.expires_at
FROM (SELECT $2 AS id) AS wanted
LEFT JOIN swarm.members m ON m.tenant = $1 AND m.id = wanted.id
LEFT JOIN swarm.challenges c ON c.tenant = $1 AND c.member = wanted.id
