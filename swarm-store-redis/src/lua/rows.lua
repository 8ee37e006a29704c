-- Reads the rows that an index lists between two entries, the highest id first: `lowest` is included,
-- `below` is not. Rows of sessions can be read without their snapshots.
local rows, index = KEYS[1], KEYS[2]
local lowest, below, limit = ARGV[1], ARGV[2], ARGV[3]
local entries = redis.call('ZREVRANGEBYLEX', index, '(' .. below, '[' .. lowest, 'LIMIT', 0, limit)
for position, listed in ipairs(entries) do
  entries[position] = id_of(listed)
end
if ARGV[4] ~= 'without snapshots' then return fetch(rows, entries) end

-- One row at a time: with their snapshots, all of them may need too much memory.
for position, id in ipairs(entries) do
  entries[position] = without_snapshot(redis.call('HGET', rows, id))
end
return entries
