-- Appends an act, and changes nothing else.
local act = ARGV[1]
log_act('', '', time_of_commit(), act)
return committed('accepted')
