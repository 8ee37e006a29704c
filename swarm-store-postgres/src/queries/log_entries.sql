-- The entries of the log after the one numbered `$2`, at most `$3`: number, time, act, submission to the committee, the
-- columns of a take, and the id of the take that the entry refers to. A row that opens several takes has an entry for each.
--
-- Each row has one of them, so as many rows as entries are enough. Without that limit, the planner sees ten entries in each
-- row up to the end of the log, and starts processes that sort them.
SELECT l.seq - coalesce(cardinality(l.opened) - o.place, 0), l.at, l.act, c.record,
    t.id, t.filed_at, t.session, t.revision, t.public_key, t.signature, t.payload,
    coalesce(o.take, l.take)
FROM (SELECT * FROM swarm.log WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3) AS l
LEFT JOIN LATERAL unnest(l.opened) WITH ORDINALITY AS o (take, place) ON true
LEFT JOIN swarm.takes t ON t.tenant = $1 AND t.id = coalesce(o.take, l.take)
LEFT JOIN swarm.committee_takes c ON c.tenant = $1 AND c.id = l.committee_take
WHERE l.seq - coalesce(cardinality(l.opened) - o.place, 0) > $2
ORDER BY l.seq, o.place LIMIT $3
