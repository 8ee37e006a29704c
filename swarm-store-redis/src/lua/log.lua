-- Reads rows of the log. A row that refers to a take or a submission is returned with that record.
local log, takes, committee_takes = KEYS[1], KEYS[2], KEYS[3]

-- The record that a row refers to.
local function record(records, id, what)
  local found = redis.call('HGET', records, id)
  if not found then error('CORRUPT ' .. what .. ' ' .. id .. ' of the log is missing') end
  return found
end

local found = {}
for _, row in ipairs(redis.call('LRANGE', log, ARGV[1], ARGV[2])) do
  local kind, id = string.match(row, '^([tc]) (%d+)')
  if kind == 't' then row = 't ' .. record(takes, id, 'take') end
  if kind == 'c' then row = 'c ' .. record(committee_takes, id, 'committee take') end
  local at, opened = string.match(row, '^o (%d+) (%d+)$')
  if opened then row = 'o ' .. at .. ' ' .. record(takes, opened, 'take') end
  found[#found + 1] = row
end
return found
