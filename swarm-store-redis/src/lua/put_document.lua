-- Writes a document; without a key, its id becomes its key. A row is the id, the time, the length of the
-- key, the key, and the text.
local rows, keys, index, counters, guards = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local acts = KEYS[7]
local collection, named, key = ARGV[1], ARGV[2], ARGV[3]
local prefix, text, replace = ARGV[4], ARGV[5], ARGV[6]
local guard, guard_version = ARGV[7], ARGV[8]
local session = ARGV[9]
local quota, since, until_then = ARGV[10], ARGV[11], ARGV[12]
local PROPOSED = 13

if guard_version ~= ''
  and not at_version(redis.call('HGET', guards, guard), guard_version) then
  return 'stale'
end

if named == '' then
  key = next_id(counters, collection)
end
local tail = #key .. ' ' .. key .. text
local id = redis.call('HGET', keys, key)
if id and replace == '' then return 'exists' end
local now = time_of_commit()
must_be(HASH, rows, counters, acts)
must_be(SORTED_SET, index)

if id then
  local act = proposed(PROPOSED, id, now)
  if not act then return propose(id, now) end
  local head = string.match(redis.call('HGET', rows, id), '^%d+ %d+ ')
  redis.call('HSET', rows, id, head .. tail)
  log_act(acts, session, now, act)
  return committed('replaced ' .. head .. key)
end

-- The quota is reached if the quota-th newest document of the group is within the period: ids are in order of
-- time, unless the clock was wrong.
if quota == '0' then return 'full' end
if quota ~= '' then
  local below, first = '(' .. prefix .. ':', '[' .. prefix
  local made = redis.call('ZREVRANGEBYLEX', index, below, first, 'LIMIT', quota - 1, 1)[1]
  made = made and words(redis.call('HGET', rows, id_of(made)), '^%d+ (%d+) ')
  made = made and tonumber(made)
  if made and made >= tonumber(since) and made < tonumber(until_then) then return 'full' end
end

id = next_id(counters, collection)
local act = proposed(PROPOSED, id, now)
if not act then return propose(id, now) end
mint(counters, collection)
local head = id .. ' ' .. now .. ' '
redis.call('HSET', rows, id, head .. tail)
redis.call('HSET', keys, key, id)
redis.call('ZADD', index, 0, entry(prefix, id))
log_act(acts, session, now, act)
return committed('created ' .. head .. key)
