-- Announces that a tenant is about to be changed.
local changes = KEYS[1]
local last = tonumber(redis.call('ZREVRANGE', changes, 0, 0, 'WITHSCORES')[2] or 0)
redis.call('ZADD', changes, last + 1, ARGV[1])
return 'announced'
