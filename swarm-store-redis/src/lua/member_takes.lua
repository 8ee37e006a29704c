-- Reads the latest take of a member in each session that an index lists between two entries, the highest id first:
-- `lowest` is included, `below` is not. Returns three texts for each: the row of the take, the summary of the session,
-- and `expected` if its roster has the text that expects the member. A take that somebody has deleted is left out.
local takes, index, sessions = KEYS[1], KEYS[2], KEYS[3]
local lowest, below, limit, member, expecting = unpack(ARGV)

local found = {}
for _, listed in ipairs(redis.call('ZREVRANGEBYLEX', index, '(' .. below, '[' .. lowest, 'LIMIT', 0, limit)) do
  local id, count = id_of(listed), #found
  local session = redis.call('HGET', sessions, id)
  local latest = words(redis.call('HGET', takes, 'latest:' .. id .. ':' .. member), ' (%d+)$')
  local take = redis.call('HGET', takes, latest)
  if take then
    found[count + 1], found[count + 2] = take, summary(session)
    found[count + 3] = string.find(session, expecting, 1, true) and 'expected' or ''
  end
end
return found
