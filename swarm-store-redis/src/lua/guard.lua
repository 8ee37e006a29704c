-- Before a commit, whose text follows: the log, named by the last keys, goes on from where it was
-- seen, which the last arguments say.
local counters, log = table.remove(KEYS), table.remove(KEYS)
local last, size, number = table.remove(ARGV), table.remove(ARGV), table.remove(ARGV)
local how, log_number = since_seen(log, counters, number, size, last)
if how == 'back' then error('BACK the log is not the one that was seen before') end
if how == 'later' then error('LATER another log has begun') end

