-- Appends an act at the time of the clock, be it behind the log. From now on a later take may have an
-- earlier time.
local act = ARGV[1]
redis.call('HSET', takes, 'clock', 'accepted')
log_act('', '', time(), '-', act)
return committed('accepted')
