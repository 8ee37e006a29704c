-- Writes a message, if it has the expected version.
local outbox, index = KEYS[2], KEYS[3]
local id, expected, row, prefix, state_prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local before = redis.call('HGET', outbox, id)
if not at_version(before, expected) then return 'stale' end
local old_state = words(before, '^%d+ (%S+) ')
time_of_commit()
must_be(SORTED_SET, index)

redis.call('HSET', outbox, id, row)
redis.call('ZREM', index, entry(prefix .. #old_state .. ':' .. old_state, id))
redis.call('ZADD', index, 0, entry(state_prefix, id))
return committed('saved')
