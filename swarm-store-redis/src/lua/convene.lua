-- Writes a new session, and adds it to the listings of all, of its state, and of its day and subject.
local sessions, index, counters = KEYS[2], KEYS[3], KEYS[4]
local acts = KEYS[5]
local state, text = ARGV[1], ARGV[2]
local all, in_state, on = ARGV[3], ARGV[4], ARGV[5]

local now = time_of_commit()
must_be(HASH, sessions, counters, acts)
must_be(SORTED_SET, index)

local id = next_id(counters, 'sessions')
local act = proposed(6, id, now)
if not act then return propose(id, now) end

mint(counters, 'sessions')
local row = table.concat({ '1', state, id, now, text }, ' ')
redis.call('HSET', sessions, id, row)
redis.call('ZADD', index, 0, entry(all, id), 0, entry(in_state, id), 0, entry(on, id))
guard_filings('session:' .. id, row)
redis.call('HSET', takes, 'newest:' .. on, id)
log_act(acts, id, now, act)
return committed('convened ' .. id .. ' ' .. now)
