-- Appends an act, whatever was seen of the log: another one begins with it, of a number that is
-- higher than any before.
local log, counters = KEYS[2], KEYS[3]
local act, seen = ARGV[1], ARGV[2]
must_be(HASH, counters)

local before = math.max(tonumber(number_of_log(counters)), tonumber(seen))
local number = string.format('%.0f', before + 1)
local now = time_of_read(log)
redis.call('HSET', counters, 'log', number)
log_act(log, '', '', now, number, act)
return committed('accepted')
