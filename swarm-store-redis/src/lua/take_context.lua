-- Reads all revisions of a take, and the nearest takes of other members before and after it in its session, of those that
-- no revision supersedes. Only the successor of a take is stored: the others are found by the list of the session.
local takes, filed = KEYS[1], KEYS[2]
local id, latest = ARGV[1], redis.call('HGET', takes, ARGV[2])
local ids = redis.call('LRANGE', filed, 0, -1)
local later, before, place = {}, {}, 0
for first = 1, #ids, 1000 do
  local fields = {}
  for position = first, math.min(first + 999, #ids) do fields[#fields + 1] = 'next:' .. ids[position] end
  for offset, successor in ipairs(redis.call('HMGET', takes, unpack(fields))) do
    local position = first + offset - 1
    later[position] = successor
    if successor then before[successor] = ids[position] end
    if ids[position] == id then place = position end
  end
end
if place == 0 then return {} end

local found, is_own = {}, {}
local own = latest and string.match(latest, ' (%d+)$')
while own do
  found[#found + 1], is_own[own] = own, true
  own = before[own]
end
for _, step in ipairs({ -1, 1 }) do
  local position = place + step
  while ids[position] and (later[position] or is_own[ids[position]]) do position = position + step end
  found[#found + 1] = ids[position]
end
return fetch(takes, found)
