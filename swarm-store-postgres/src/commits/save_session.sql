-- Writes a session, or removes it. A snapshot that stays the same is not written again: it may be long.
WITH judged AS (SELECT CASE
    WHEN (SELECT version FROM swarm.sessions WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint)
        IS DISTINCT FROM ($3 ->> 'expected')::bigint THEN 'stale'
    WHEN $3 ->> 'takes' IS NOT NULL AND ($3 ->> 'takes')::bigint <> (SELECT count(*)
        FROM swarm.takes WHERE tenant = $1 AND session = ($3 ->> 'id')::bigint) THEN 'stale'
    WHEN $3 ->> 'end' IS NOT NULL AND EXISTS (SELECT FROM swarm.takes
        WHERE tenant = $1 AND session = ($3 ->> 'id')::bigint AND filed_at > ($3 ->> 'end')::bigint)
        THEN 'stale'
    ELSE 'saved' END AS outcome),
withdrawn AS (DELETE FROM swarm.sessions USING judged
    WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint AND outcome = 'saved'
        AND ($3 ->> 'withdrawn')::boolean),
saved AS (UPDATE swarm.sessions SET version = ($3 ->> 'version')::bigint, state = $3 ->> 'state',
    published_at = ($3 ->> 'published_at')::bigint, record = $3 ->> 'record',
    snapshot = CASE WHEN snapshot IS NOT NULL AND snapshot = $3 ->> 'snapshot' THEN snapshot
        ELSE $3 ->> 'snapshot' END,
    held_until = NULL FROM judged
    WHERE tenant = $1 AND id = ($3 ->> 'id')::bigint AND outcome = 'saved'
        AND NOT ($3 ->> 'withdrawn')::boolean)
SELECT outcome, 0, NULL FROM judged
