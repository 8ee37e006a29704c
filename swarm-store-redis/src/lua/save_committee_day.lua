-- Writes a day of the committee, lists it by the subject of its briefs, and puts the briefs that
-- come with it in place of its own and those of earlier days, if the guard holds.
local days, index, briefs = KEYS[2], KEYS[3], KEYS[4]
local day, expected, row, subject = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local all, about, replace = ARGV[5], ARGV[6], ARGV[7]

local before = redis.call('HGET', days, day)
if not at_version(before, expected) then return 'moved' end

local function listed_about(subject)
  return entry(about .. #subject .. ':' .. subject, day)
end

redis.call('HSET', days, day, row)
if before then
  local length, place = string.match(before, '^%d+ %d+ (%d+) ()')
  local old = string.sub(before, place, place + length - 1)
  redis.call('ZREM', index, entry(all, day), listed_about(old))
end
if subject ~= '' then
  redis.call('ZADD', index, 0, entry(all, day), 0, listed_about(subject))
end
if replace ~= '' then
  for _, field in ipairs(redis.call('HKEYS', briefs)) do
    local of_day = string.match(field, '^%d+')
    if tonumber(of_day) <= tonumber(day) then redis.call('HDEL', briefs, field) end
  end
  for place = 8, #ARGV, 2 do
    redis.call('HSET', briefs, ARGV[place], ARGV[place + 1])
  end
end
return committed('saved')
