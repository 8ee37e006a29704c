-- Sets the rest of the row of a restored tenant by the rows that were inserted. `$2` are the collections of limited size.
-- Returns the position of its log.
UPDATE swarm.tenants t SET
    takes = (SELECT coalesce(max(id), 0) FROM swarm.takes WHERE tenant = $1),
    committee_takes = (SELECT coalesce(max(id), 0) FROM swarm.committee_takes WHERE tenant = $1),
    document_bytes = (SELECT coalesce(sum(octet_length(record)), 0) FROM swarm.documents
        WHERE tenant = $1 AND collection = ANY ($2)),
    seq = coalesce(last.seq, 0), last_at = last.at, commits = commits + 1
FROM (SELECT) AS one LEFT JOIN LATERAL
    (SELECT * FROM swarm.log WHERE tenant = $1 ORDER BY seq DESC LIMIT 1) AS last ON true
WHERE t.tenant = $1
RETURNING t.log, t.seq, swarm.fingerprint_1($1, t.seq)
