-- All submissions of some days, in the order of the days, then of their commits.
local takes, index = KEYS[1], KEYS[2]

local ids = {}
for _, on in ipairs(ARGV) do
  for _, listed in ipairs(redis.call('ZRANGEBYLEX', index, '[' .. on, '(' .. on .. ':')) do
    ids[#ids + 1] = id_of(listed)
  end
end
return fetch(takes, ids)
