-- Holds back new takes of a session for `duration` milliseconds, or until the session is written, if it has this version.
local id, version, duration = ARGV[1], ARGV[2], tonumber(ARGV[3])
if redis.call('HGET', takes, 'session:' .. id) ~= version then return 'stale' end
local until_when = string.format('%.0f', tonumber(time_of_commit()) + duration)
redis.call('HSET', takes, 'hold:' .. id, until_when)
return 'held'
