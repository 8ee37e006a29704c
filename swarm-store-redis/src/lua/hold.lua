-- Holds back new takes of a session for `duration` milliseconds, or until the session is written.
local id, duration = ARGV[1], tonumber(ARGV[2])
if not redis.call('HGET', takes, 'session:' .. id) then return 'unknown' end
local until_when = string.format('%.0f', tonumber(time_of_commit()) + duration)
redis.call('HSET', takes, 'hold:' .. id, until_when)
return 'held'
