-- Migrates to layout 2: log rows that refer to a record contain its time, too. Only the time of the last row
-- is ever read, so the others are left unchanged.
local log, takes, committee_takes = KEYS[2], KEYS[3], KEYS[4]

local row = redis.call('LINDEX', log, -1) or ''
local kind, id = string.match(row, '^([tc]) (%d+)$')
local time
if kind == 't' then time = words(redis.call('HGET', takes, id), '^%d+ (%d+) ') end
if kind == 'c' then time = words(redis.call('HGET', committee_takes, id), '^(%d+) ') end
if time then redis.call('LSET', log, -1, row .. ' ' .. time) end
redis.call('SET', layout, '2')
return ''
