-- The documents of the collection `$2` after the name `$3` (`$7`: from the first), by name: at most `$4` less one, and no more
-- than `$5` bytes, but always one; `$6`: without their texts. The last column is how many there are, up to `$4`: one more
-- than the page holds tells that there are more.
WITH listed AS MATERIALIZED (
    SELECT id, name, CASE WHEN $6 THEN '' ELSE record END AS text, created_at,
        sum(CASE WHEN $6 THEN 0 ELSE octet_length(record) END) OVER by_name AS size,
        row_number() OVER by_name AS place
    FROM swarm.documents
    WHERE tenant = $1 AND collection = $2 AND ($7 OR name > $3)
    WINDOW by_name AS (ORDER BY name) ORDER BY name LIMIT $4)
SELECT id, name, text, created_at, (SELECT max(place) FROM listed) FROM listed
WHERE place = 1 OR (place < $4 AND size <= $5) ORDER BY name
