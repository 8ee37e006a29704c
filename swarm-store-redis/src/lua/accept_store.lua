-- Appends an act, whatever was seen of the log: another one begins with it, of a number that is
-- higher than any before.
local act, seen = ARGV[1], ARGV[2]

set_position(redis.call('HGET', takes, 'log'))
log_number = string.format('%d', math.max(tonumber(log_number), tonumber(seen)) + 1)
log_act('', '', time_of_read(), log_number, act)
return committed('accepted')
