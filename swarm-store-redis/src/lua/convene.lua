-- Writes a new session, and adds it to the listings of all, of its state, of its subject, and of its day and subject. With an
-- occasion, also writes the document that claims it, unless there is one: then nothing is written.
local sessions, index, counters = KEYS[2], KEYS[3], KEYS[4]
local acts = KEYS[5]
local claims, claimed, claims_index = KEYS[6], KEYS[7], KEYS[8]
local state, text = ARGV[1], ARGV[2]
local all, in_state, on, about = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local occasion, group = ARGV[7], ARGV[8]
local PROPOSED = 9

if occasion ~= '' and redis.call('HEXISTS', claimed, occasion) == 1 then return 'claimed' end
local now = time_of_commit()
must_be(HASH, sessions, counters, acts)
must_be(SORTED_SET, index)
if occasion ~= '' then
  must_be(HASH, claims)
  must_be(SORTED_SET, claims_index)
end

local id = next_id(counters, 'sessions')
local act = proposed(PROPOSED, id, now)
if not act then return propose(id, now) end

mint(counters, 'sessions')
local row = table.concat({ '1', state, id, now, text }, ' ')
redis.call('HSET', sessions, id, row)
redis.call('ZADD', index, 0, entry(all, id), 0, entry(in_state, id), 0, entry(on, id), 0, entry(about, id))
guard_filings('session:' .. id, row)
redis.call('HSET', takes, 'newest:' .. on, id)
if occasion ~= '' then
  local claim = mint(counters, 'occasions')
  local text = table.concat({ claim, now, #occasion, occasion .. id }, ' ')
  redis.call('HSET', claims, claim, text)
  redis.call('HSET', claimed, occasion, claim)
  redis.call('ZADD', claims_index, 0, entry(group, claim), 0, BY_KEY .. occasion)
end
log_act(acts, id, now, act)
return committed('convened ' .. id .. ' ' .. now)
