-- Where the log stands, and how it goes on from where it was seen.
local log, counters = KEYS[1], KEYS[2]
local how, _, size = since_seen(log, counters, ARGV[1], ARGV[2], ARGV[3])
local last = redis.call('LINDEX', log, -1) or ''
return { how, tonumber(number_of_log(counters)), size, mark(last) }
