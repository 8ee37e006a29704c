-- Gives out the challenge of the bucket if it is still reusable, else the fresh one, which becomes that of the bucket.
-- Its details are the seed in hexadecimal digits and both times.
WITH reusable AS (SELECT seed, reusable_until, expires_at
    FROM swarm.reusable_challenges
    WHERE tenant = $1 AND bucket = ($3 ->> 'bucket')::bigint AND reusable_until >= $2),
given AS (SELECT * FROM reusable UNION ALL
    SELECT seed, reusable_until, expires_at FROM jsonb_populate_record(NULL::swarm.challenges, $3)
    WHERE NOT EXISTS (SELECT FROM reusable)),
reused AS (INSERT INTO swarm.reusable_challenges
    (tenant, bucket, seed, reusable_until, expires_at)
    SELECT $1, ($3 ->> 'bucket')::bigint, given.* FROM given
    ON CONFLICT (tenant, bucket) DO UPDATE SET seed = excluded.seed,
        reusable_until = excluded.reusable_until, expires_at = excluded.expires_at),
live AS (INSERT INTO swarm.challenges (tenant, member, seed, reusable_until, expires_at)
    SELECT $1, $3 ->> 'member', given.* FROM given
    ON CONFLICT (tenant, member) DO UPDATE SET seed = excluded.seed,
        reusable_until = excluded.reusable_until, expires_at = excluded.expires_at)
SELECT 'saved', 0, concat_ws(' ', encode(seed, 'hex'), reusable_until, expires_at) FROM given
