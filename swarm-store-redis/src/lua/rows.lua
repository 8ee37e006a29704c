-- The rows that an index lists from one entry (included) down to another, the highest id first.
local rows, index = KEYS[1], KEYS[2]
local lowest, below, most = ARGV[1], ARGV[2], ARGV[3]
local entries = redis.call('ZREVRANGEBYLEX', index, '(' .. below, '[' .. lowest, 'LIMIT', 0, most)
for position, listed in ipairs(entries) do
  entries[position] = id_of(listed)
end
return fetch(rows, entries)
