-- Appends an act without comparing the position seen, and begins another log: its number is higher than
-- any before.
local seen = ARGV[1]

set_position(redis.call('HGET', takes, 'log'))
log_number = string.format('%d', math.max(tonumber(log_number), tonumber(seen)) + 1)
local now = time_of_read()
local act = proposed(2, log_number, now)
if not act then return propose(log_number, now) end
log_act('', '', now, act)
return committed('accepted')
