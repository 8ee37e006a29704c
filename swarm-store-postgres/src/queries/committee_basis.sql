-- The facts that a submission to the committee is judged by: the clock, the time of the last row of the log, its number, the
-- fingerprint of its row `$2`; the member with the API key `$3`; the last day with a session. Always one row.
SELECT swarm.clock_1(), t.last_at, coalesce(t.log, 1), swarm.fingerprint_1($1, $2),
    m.version, m.record, d.version, d.record
FROM (SELECT) AS one
LEFT JOIN swarm.tenants t ON t.tenant = $1
LEFT JOIN swarm.committee_members m ON m.tenant = $1 AND m.api_key = $3
LEFT JOIN LATERAL (
    SELECT version, record FROM swarm.committee_days
    WHERE tenant = $1 AND about IS NOT NULL ORDER BY date DESC LIMIT 1
) AS d ON true
LIMIT 1
