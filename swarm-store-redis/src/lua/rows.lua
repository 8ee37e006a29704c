-- Reads the rows that an index lists between two entries, the highest id first, or the lowest: `lowest` is included,
-- `below` is not. Rows of sessions can be read without their snapshots, or as summaries.
local rows, index = KEYS[1], KEYS[2]
local lowest, below, limit = ARGV[1], ARGV[2], ARGV[3]
local first, last, range = '(' .. below, '[' .. lowest, 'ZREVRANGEBYLEX'
if ARGV[5] == 'lowest first' then first, last, range = last, first, 'ZRANGEBYLEX' end
local entries = redis.call(range, index, first, last, 'LIMIT', 0, limit)
for position, listed in ipairs(entries) do
  entries[position] = id_of(listed)
end
local cut = ({ ['without snapshots'] = without_snapshot, summaries = summary })[ARGV[4]]
if not cut then return fetch(rows, entries) end

-- One row at a time: with their snapshots, all of them may need too much memory.
for position, id in ipairs(entries) do
  entries[position] = cut(redis.call('HGET', rows, id))
end
return entries
