-- Appends an act at the time of the clock, be it behind the log.
local act = ARGV[1]
log_act('', '', time(), '-', act)
return committed('accepted')
