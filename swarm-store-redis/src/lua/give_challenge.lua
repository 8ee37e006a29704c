-- Gives out the reusable challenge of a bucket, or replaces it by a fresh one when it has expired. The
-- challenge given out replaces the one in the slot. Idempotent: sent twice, it gives out the same.
local reusable, live = KEYS[1], KEYS[2]
local bucket, slot, fresh = ARGV[1], ARGV[2], ARGV[3]

local now = time_of_commit()
local given = redis.call('HGET', reusable, bucket)
must_be(HASH, live)
if not given or tonumber(now) > tonumber(words(given, '^(%-?%d+) ')) then
  given = fresh
  redis.call('HSET', reusable, bucket, given)
end
redis.call('HSET', live, slot, given)
return given
