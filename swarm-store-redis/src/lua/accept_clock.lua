-- Appends an act at the time of the clock, be it behind the log.
local log, act = KEYS[2], ARGV[1]
log_act(log, '', '', time(), '-', act)
return committed('accepted')
