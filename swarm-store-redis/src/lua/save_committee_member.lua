-- Writes a member of the committee, if the guard holds, and replaces its key.
local members, keys = KEYS[2], KEYS[3]
local id, expected, row, key = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local before = redis.call('HGET', members, id)
if not at_version(before, expected) then return 'stale' end
local old_key = before and words(before, '^%d+ (%x+) ')
time_of_commit()
must_be(HASH, keys)

redis.call('HSET', members, id, row)
if old_key then redis.call('HDEL', keys, old_key) end
redis.call('HSET', keys, key, id)
return committed('saved')
