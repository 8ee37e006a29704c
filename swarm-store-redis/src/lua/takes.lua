-- The takes of a session from one position to another, both included.
local takes, filed = KEYS[1], KEYS[2]
return fetch(takes, redis.call('LRANGE', filed, ARGV[1], ARGV[2]))
