-- Writes a session, or removes it. `prepare_session.sql` has counted its takes up to `last_take`, and has staged its snapshot
-- for the attempt `staged`, unless the session `keeps` the one it has.
WITH staged AS (SELECT attempt FROM swarm.snapshots
    WHERE tenant = $1 AND session = ($3 ->> 'id')::bigint AND attempt = ($3 ->> 'staged')::bytea FOR UPDATE),
judged AS (SELECT CASE
    WHEN (SELECT version FROM swarm.sessions WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint)
        IS DISTINCT FROM ($3 ->> 'expected')::bigint THEN 'stale'
    WHEN $3 ->> 'takes' IS NOT NULL AND ($3 ->> 'takes' <> $3 ->> 'counted' OR EXISTS (SELECT
        FROM swarm.takes WHERE tenant = $1 AND session = ($3 ->> 'id')::bigint
            AND id > ($3 ->> 'last_take')::bigint)) THEN 'stale'
    WHEN $3 ->> 'end' IS NOT NULL AND EXISTS (SELECT FROM swarm.takes
        WHERE tenant = $1 AND session = ($3 ->> 'id')::bigint AND filed_at > ($3 ->> 'end')::bigint)
        THEN 'stale'
    WHEN $3 ->> 'staged' IS NOT NULL AND NOT EXISTS (SELECT FROM staged) THEN 'stale'
    ELSE 'saved' END AS outcome),
withdrawn AS (DELETE FROM swarm.sessions USING judged
    WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint AND outcome = 'saved'
        AND ($3 ->> 'withdrawn')::boolean),
replaced AS (DELETE FROM swarm.snapshots USING judged
    WHERE tenant = $1 AND session = ($3 ->> 'id')::bigint AND staged_at IS NULL AND outcome = 'saved'
        AND NOT ($3 ->> 'keeps')::boolean),
shown AS (UPDATE swarm.snapshots AS snapshot SET staged_at = NULL FROM judged, staged
    WHERE tenant = $1 AND session = ($3 ->> 'id')::bigint AND snapshot.attempt = staged.attempt
        AND outcome = 'saved'),
saved AS (UPDATE swarm.sessions SET version = ($3 ->> 'version')::bigint, state = $3 ->> 'state',
    published_at = ($3 ->> 'published_at')::bigint, record = $3 ->> 'record', held_until = NULL
    FROM judged WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint AND outcome = 'saved'
        AND NOT ($3 ->> 'withdrawn')::boolean)
SELECT outcome, 0, NULL FROM judged
