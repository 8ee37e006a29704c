-- All takes of a session.
local takes, filed = KEYS[1], KEYS[2]
return fetch(takes, redis.call('LRANGE', filed, 0, -1))
