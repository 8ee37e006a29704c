-- The members in some states. Their ids end the entries of the index, as they are: no byte of text
-- is above 254.
local members, index = KEYS[1], KEYS[2]

local ids = {}
for _, listing in ipairs(ARGV) do
  local below = '(' .. listing .. '\255'
  for _, listed in ipairs(redis.call('ZRANGEBYLEX', index, '[' .. listing, below)) do
    ids[#ids + 1] = string.sub(listed, #listing + 1)
  end
end
return fetch(members, ids)
