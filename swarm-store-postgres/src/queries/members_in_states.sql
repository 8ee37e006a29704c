-- The members in the states `$2` after the id `$3`, by id, at most `$4`. Each state is read from its index, up to the limit.
SELECT found.record FROM unnest($2) AS wanted (state)
CROSS JOIN LATERAL (
    SELECT id, record FROM swarm.members
    WHERE tenant = $1 AND state = wanted.state AND id > $3 ORDER BY id LIMIT $4
) AS found
ORDER BY found.id LIMIT $4
