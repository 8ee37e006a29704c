-- Saves the state of the tree over the log, and tiles of it, if the stored state has the version expected. The
-- fields and their values follow it, the state first. A call that is sent again finds that state.
local tree, expected, state = KEYS[1], ARGV[1], ARGV[3]
local stored = redis.call('HGET', tree, 'state') or ''
if stored == state then return 'saved' end
if (string.match(stored, '^%d+') or '') ~= expected then return 'stale' end
for position = 2, #ARGV, 2 do redis.call('HSET', tree, ARGV[position], ARGV[position + 1]) end
return 'saved'
