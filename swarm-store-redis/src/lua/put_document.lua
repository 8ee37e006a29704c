-- Writes a document; without a key, its id becomes its key. A row is the id, the time, the length of the
-- key, the key, and the text.
local rows, keys, index, counters, guards = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local acts = KEYS[7]
local collection, named, key = ARGV[1], ARGV[2], ARGV[3]
local prefix, text, replace = ARGV[4], ARGV[5], ARGV[6]
local guard, guard_version = ARGV[7], ARGV[8]
local session = ARGV[9]
local most, of, since, until_then = ARGV[10], ARGV[11], ARGV[12], ARGV[13]
local is_limited, most_bytes = ARGV[14], ARGV[15]
local PROPOSED = 16

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
local row = id and redis.call('HGET', rows, id)
local now = time_of_commit()
must_be(HASH, rows, counters, acts)
must_be(SORTED_SET, index)

-- The quota is reached if the n-th newest document of the group, or of the collection, is within the period:
-- ids count from 1, in order of time unless the clock was wrong.
if not id and most == '0' then return 'full' end
if not id and most ~= '' then
  local nth
  if of == 'collection' then
    nth = string.format('%d', next_id(counters, collection) - most)
  else
    local below, first = '(' .. prefix .. ':', '[' .. prefix
    local listed = redis.call('ZREVRANGEBYLEX', index, below, first, 'LIMIT', most - 1, 1)[1]
    nth = listed and id_of(listed)
  end
  local made = nth and redis.call('HGET', rows, nth)
  made = made and tonumber((words(made, '^%d+ (%d+) ')))
  if made and made >= tonumber(since) and made < tonumber(until_then) then return 'full' end
end

local bytes
if is_limited ~= '' then
  local replaced = row and text_length(row) or 0
  bytes = tonumber(redis.call('HGET', counters, 'document-bytes') or '0') - replaced + #text
  if most_bytes ~= '' and #text > replaced and bytes > tonumber(most_bytes) then return 'no room' end
end

local act = proposed(PROPOSED, id or next_id(counters, collection), now)
if not act then return propose(id or next_id(counters, collection), now) end

if bytes then redis.call('HSET', counters, 'document-bytes', string.format('%d', bytes)) end
local done, head = 'replaced ', row and string.match(row, '^%d+ %d+ ')
if not id then
  id = mint(counters, collection)
  done, head = 'created ', id .. ' ' .. now .. ' '
  redis.call('HSET', keys, key, id)
  redis.call('ZADD', index, 0, entry(prefix, id), 0, BY_KEY .. key)
end
redis.call('HSET', rows, id, head .. tail)
log_act(acts, session, now, act)
return committed(done .. head .. key)
