-- Reads the rows of some listings, one after another: of each at most `limit` between two entries
-- (exclusive), the lowest id first.
local rows, index = KEYS[1], KEYS[2]
local limit = ARGV[1]

local ids = {}
for position = 2, #ARGV, 2 do
  local above, below = ARGV[position], ARGV[position + 1]
  local first, last = '(' .. above, '(' .. below
  for _, listed in ipairs(redis.call('ZRANGEBYLEX', index, first, last, 'LIMIT', 0, limit)) do
    ids[#ids + 1] = id_of(listed)
  end
end
return fetch(rows, ids)
