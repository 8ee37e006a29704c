-- The entries of the log about the session `$2`, in the columns of `log_entries.sql`.
SELECT l.seq - coalesce(cardinality(l.opened) - o.place, 0), l.at, l.act, c.record,
    t.id, t.filed_at, t.session, t.revision, t.public_key, t.signature, t.payload,
    coalesce(o.take, l.take)
FROM swarm.log l
LEFT JOIN LATERAL unnest(l.opened) WITH ORDINALITY AS o (take, place) ON true
LEFT JOIN swarm.takes t ON t.tenant = $1 AND t.id = coalesce(o.take, l.take)
LEFT JOIN swarm.committee_takes c ON c.tenant = $1 AND c.id = l.committee_take
WHERE l.tenant = $1 AND l.session = $2
ORDER BY l.seq
