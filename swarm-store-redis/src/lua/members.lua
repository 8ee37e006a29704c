-- Reads the members in some states, of each state at most `limit` with ids after `after`, the lowest id
-- first. Index entries end with the id as it is; no byte of UTF-8 is 255, so that byte ends a range.
local members, index = KEYS[1], KEYS[2]
local after, limit = ARGV[1], ARGV[2]

local ids = {}
for position = 3, #ARGV do
  local listing = ARGV[position]
  local above, below = '(' .. listing .. after, '(' .. listing .. '\255'
  for _, listed in ipairs(redis.call('ZRANGEBYLEX', index, above, below, 'LIMIT', 0, limit)) do
    ids[#ids + 1] = string.sub(listed, #listing + 1)
  end
end
return fetch(members, ids)
