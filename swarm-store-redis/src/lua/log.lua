-- Reads rows of the log. A row that refers to a take or a submission is returned with that record.
local log, takes, committee_takes = KEYS[1], KEYS[2], KEYS[3]
local found = {}
for _, row in ipairs(redis.call('LRANGE', log, ARGV[1], ARGV[2])) do
  local kind, id = string.match(row, '^([tc]) (%d+)')
  if kind == 't' then row = 't ' .. redis.call('HGET', takes, id) end
  if kind == 'c' then row = 'c ' .. redis.call('HGET', committee_takes, id) end
  found[#found + 1] = row
end
return found
