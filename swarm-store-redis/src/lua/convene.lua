-- Writes a new session and lists it: among all, in its state, and on its day and subject.
local sessions, index, counters = KEYS[2], KEYS[3], KEYS[4]
local state, text = ARGV[1], ARGV[2]

local now = time()
local id = mint(counters, 'sessions')
redis.call('HSET', sessions, id, table.concat({ '1', state, id, now, text }, ' '))
for listing = 3, #ARGV do
  redis.call('ZADD', index, 0, entry(ARGV[listing], id))
end
return committed('convened ' .. id .. ' ' .. now)
