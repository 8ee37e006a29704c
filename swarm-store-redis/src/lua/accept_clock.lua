-- Appends an act with the time of the clock, even if the clock is behind the log. After it a later take
-- may have an earlier time.
local act = ARGV[1]
redis.call('HSET', takes, 'clock', 'accepted')
log_act('', '', time(), act)
return committed('accepted')
