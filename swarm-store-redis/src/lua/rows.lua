-- The rows that an index lists from one entry (included) down to another, the highest id first. Those of
-- sessions may leave their snapshots out.
local rows, index = KEYS[1], KEYS[2]
local lowest, below, most = ARGV[1], ARGV[2], ARGV[3]
local entries = redis.call('ZREVRANGEBYLEX', index, '(' .. below, '[' .. lowest, 'LIMIT', 0, most)
for position, listed in ipairs(entries) do
  entries[position] = id_of(listed)
end
if ARGV[4] ~= 'without snapshots' then return fetch(rows, entries) end

-- One by one: all of them may be more than this server has room for.
for position, id in ipairs(entries) do
  entries[position] = without_snapshot(redis.call('HGET', rows, id))
end
return entries
