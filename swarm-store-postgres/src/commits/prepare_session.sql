-- Does what would take long in the commit of a session: counts its takes, and stages its snapshot for an attempt, unless the
-- session has the same. Deletes what was staged for commits that were never made.
WITH forgotten AS (DELETE FROM swarm.snapshots
    WHERE tenant = $1 AND staged_at < (SELECT swarm.clock_1()) - 600000),
staged AS (INSERT INTO swarm.snapshots (tenant, session, attempt, staged_at, record)
    SELECT $1, $2, $3, swarm.clock_1(), $4 WHERE $4 IS NOT NULL AND NOT EXISTS (SELECT
        FROM swarm.snapshots WHERE tenant = $1 AND session = $2 AND staged_at IS NULL AND record = $4)
    ON CONFLICT (tenant, session, attempt) DO UPDATE SET staged_at = excluded.staged_at RETURNING attempt)
SELECT EXISTS (SELECT FROM staged), count(*), coalesce(max(id), 0)
FROM swarm.takes WHERE tenant = $1 AND session = $2
