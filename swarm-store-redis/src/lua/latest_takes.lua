-- The takes of a session that no later revision supersedes. So many are looked at, those whose ids
-- follow one. Before the takes stands the last id that was looked at, or nothing at the end.
local takes, filed = KEYS[1], KEYS[2]
local after, most = tonumber(ARGV[1]), tonumber(ARGV[2])

-- They stand in the order of their ids.
local low, high = 0, redis.call('LLEN', filed)
while low < high do
  local middle = math.floor((low + high) / 2)
  local above = tonumber(redis.call('LINDEX', filed, middle)) > after
  if above then high = middle else low = middle + 1 end
end
local ids = redis.call('LRANGE', filed, low, low + most - 1)
if #ids == 0 then return { '' } end

local next_revisions, latest = {}, {}
for position, id in ipairs(ids) do next_revisions[position] = 'next:' .. id end
for position, later in ipairs(redis.call('HMGET', takes, unpack(next_revisions))) do
  if not later then latest[#latest + 1] = ids[position] end
end
local found = fetch(takes, latest)
table.insert(found, 1, #ids == most and ids[#ids] or '')
return found
