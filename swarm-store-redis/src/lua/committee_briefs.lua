-- Reads all briefs of a day.
local briefs, of_day = KEYS[1], ARGV[1]

local fields = {}
for _, field in ipairs(redis.call('HKEYS', briefs)) do
  if string.sub(field, 1, #of_day) == of_day then fields[#fields + 1] = field end
end
return fetch(briefs, fields)
