-- Writes a new session and lists it: among all, in its state, and on its day and subject.
local sessions, index, counters = KEYS[2], KEYS[3], KEYS[4]
local log, acts = KEYS[5], KEYS[6]
local state, text, act = ARGV[1], ARGV[2], ARGV[3]

local now = time_of_commit(log)
must_be(HASH, sessions, counters, acts)
must_be(SORTED_SET, index)

local id = mint(counters, 'sessions')
redis.call('HSET', sessions, id, table.concat({ '1', state, id, now, text }, ' '))
for listing = 4, #ARGV do
  redis.call('ZADD', index, 0, entry(ARGV[listing], id))
end
log_act(log, acts, id, now, id, act)
return committed('convened ' .. id .. ' ' .. now)
