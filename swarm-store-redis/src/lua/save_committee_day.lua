-- Writes a day of the committee, if the guard holds, and lists it by the subject of its briefs. New briefs
-- replace those of this and earlier days.
local days, index, briefs = KEYS[2], KEYS[3], KEYS[4]
local day, expected, row, subject = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local all, about, replace, act = ARGV[5], ARGV[6], ARGV[7], ARGV[8]

local before = redis.call('HGET', days, day)
if not at_version(before, expected) then return 'stale' end

local function listed_about(subject)
  return entry(about .. #subject .. ':' .. subject, day)
end

local old_subject
if before then
  local length, start = words(before, '^%d+ %d+ (%d+) ()')
  old_subject = string.sub(before, start, start + length - 1)
end
local outdated = {}
for _, field in ipairs(replace ~= '' and redis.call('HKEYS', briefs) or {}) do
  local of_day = words(field, '^(%d+):')
  if tonumber(of_day) <= tonumber(day) then outdated[#outdated + 1] = field end
end
local now = time_of_commit()
must_be(HASH, briefs)
must_be(SORTED_SET, index)

redis.call('HSET', days, day, row)
if old_subject then
  redis.call('ZREM', index, entry(all, day), listed_about(old_subject))
end
if subject ~= '' then
  redis.call('ZADD', index, 0, entry(all, day), 0, listed_about(subject))
end
for _, field in ipairs(outdated) do
  redis.call('HDEL', briefs, field)
end
for position = 9, #ARGV - 3, 2 do
  redis.call('HSET', briefs, ARGV[position], ARGV[position + 1])
end
log_act('', '', now, act)
return committed('saved')
