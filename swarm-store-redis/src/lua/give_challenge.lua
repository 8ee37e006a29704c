-- Gives out the challenge that stands, or else a fresh one, which takes its place there. The one that
-- is given out takes the place of what is in the slot. Sent twice, it gives the same out again.
local standing, live = KEYS[1], KEYS[2]
local stand, slot, fresh = ARGV[1], ARGV[2], ARGV[3]

local given = redis.call('HGET', standing, stand)
must_be(HASH, live)
if not given or tonumber((time_of_read())) > tonumber(words(given, '^(%-?%d+) ')) then
  given = fresh
  redis.call('HSET', standing, stand, given)
end
redis.call('HSET', live, slot, given)
return given
