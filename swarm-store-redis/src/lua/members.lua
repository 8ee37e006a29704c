-- The members in some states, of each so many, the lowest id first, with ids higher than one. Their ids
-- end the entries of the index, as they are: no byte of text is above 254.
local members, index = KEYS[1], KEYS[2]
local after, most = ARGV[1], ARGV[2]

local ids = {}
for position = 3, #ARGV do
  local listing = ARGV[position]
  local above, below = '(' .. listing .. after, '(' .. listing .. '\255'
  for _, listed in ipairs(redis.call('ZRANGEBYLEX', index, above, below, 'LIMIT', 0, most)) do
    ids[#ids + 1] = string.sub(listed, #listing + 1)
  end
end
return fetch(members, ids)
