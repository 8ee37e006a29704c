-- Reads a take, and the id of the revision after it.
local takes, id = KEYS[1], ARGV[1]
return redis.call('HMGET', takes, id, 'next:' .. id)
