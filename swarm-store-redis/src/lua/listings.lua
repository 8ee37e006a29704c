-- The rows of some listings, in their order: of each those between two entries, the lowest id
-- first.
local rows, index = KEYS[1], KEYS[2]

local ids = {}
for position = 1, #ARGV, 2 do
  local above, below = ARGV[position], ARGV[position + 1]
  for _, listed in ipairs(redis.call('ZRANGEBYLEX', index, '(' .. above, '(' .. below)) do
    ids[#ids + 1] = id_of(listed)
  end
end
return fetch(rows, ids)
