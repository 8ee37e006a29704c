-- Writes a session, if its version, and the number of its takes where one is given, are those
-- expected. When it was published never changes.
local sessions, index, filed, log, acts = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local id, expected, takes, row = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local prefix, state_prefix, published_prefix, act = ARGV[5], ARGV[6], ARGV[7], ARGV[8]

local before = redis.call('HGET', sessions, id)
if not at_version(before, expected) then return 'stale' end
if takes ~= '' and redis.call('LLEN', filed) ~= tonumber(takes) then return 'stale' end
local old_state = words(before, '^%d+ (%S+) ')

redis.call('HSET', sessions, id, row)
redis.call('ZREM', index, entry(prefix .. #old_state .. ':' .. old_state, id))
redis.call('ZADD', index, 0, entry(state_prefix, id))
if published_prefix ~= '' then redis.call('ZADD', index, 0, entry(published_prefix, id)) end
log_act(log, acts, id, time(), '-', act)
return committed('saved')
