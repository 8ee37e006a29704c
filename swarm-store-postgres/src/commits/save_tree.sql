-- Saves a state of the tree, and its tiles. It is no change of the records: it is not announced.
WITH judged AS (SELECT CASE WHEN ($3 ->> 'expected')::bigint
    IS NOT DISTINCT FROM (SELECT version FROM swarm.trees WHERE tenant = $1)
    THEN 'kept' ELSE 'stale' END AS outcome),
state AS (INSERT INTO swarm.trees
    SELECT tree.* FROM judged, jsonb_populate_record(NULL::swarm.trees, $3) AS tree WHERE outcome = 'kept'
    ON CONFLICT (tenant) DO UPDATE SET version = excluded.version, log = excluded.log,
        size = excluded.size, checkpoint = excluded.checkpoint),
tiles AS (INSERT INTO swarm.tiles (tenant, log, level, number, hashes)
    SELECT $1, ($3 ->> 'log')::bigint, tile.level, tile.number, tile.hashes
    FROM judged, jsonb_populate_recordset(NULL::swarm.tiles, $3 -> 'tiles') AS tile WHERE outcome = 'kept'
    ON CONFLICT (tenant, log, level, number) DO UPDATE SET hashes = excluded.hashes)
SELECT outcome, 0, NULL FROM judged
