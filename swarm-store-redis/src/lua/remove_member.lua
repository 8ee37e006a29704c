-- Removes a member, if it has the version judged: its state, token, key and challenge.
local members, tokens, keys, challenges, index = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local id, expected, challenge, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

time_of_commit()
local before = redis.call('HGET', members, id)
if not at_version(before, expected) then return 'stale' end
local state, token, key = words(before, '^%d+ (%S+) (%S+) (%S+) ')
must_be(HASH, tokens, keys, challenges)
must_be(SORTED_SET, index)

redis.call('HDEL', members, id)
redis.call('HDEL', takes, 'member:' .. id)
redis.call('HDEL', challenges, challenge)
redis.call('ZREM', index, prefix .. #state .. ':' .. state .. id)
if token ~= '-' then redis.call('HDEL', tokens, token) end
if key ~= '-' and redis.call('HGET', keys, key) == id then redis.call('HDEL', keys, key) end
return committed('saved')
