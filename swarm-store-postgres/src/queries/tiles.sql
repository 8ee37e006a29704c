-- The tiles with the levels `$3` and the numbers `$4` of the log `$2`, in their order; null for one that is not stored. The limit
-- makes the planner look up each in the index, also while it knows no statistics of the table: a join read all tiles of the
-- tenant then.
SELECT stored.hashes
FROM unnest($3, $4) WITH ORDINALITY AS wanted (level, number, place)
LEFT JOIN LATERAL (
    SELECT hashes FROM swarm.tiles
    WHERE tenant = $1 AND log = $2 AND level = wanted.level AND number = wanted.number LIMIT 1
) AS stored ON true
ORDER BY wanted.place
