-- A take, and the id of the revision after it.
local takes, superseded = KEYS[1], KEYS[2]
return { redis.call('HGET', takes, ARGV[1]), redis.call('HGET', superseded, ARGV[1]) }
