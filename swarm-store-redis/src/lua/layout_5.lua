-- Migrates to layout 5: documents are listed by key, and the size of those whose size is limited is counted. Each
-- call moves about BATCH documents, from the cursor given (collection, cursor of its keys, bytes so far), and returns
-- the next cursor, or '' at the end.
local counters = KEYS[5]
local BATCH = 100
local FIRST, COLLECTIONS = 13, (#KEYS - 12) / 3
local limited = ARGV[3]

local collection, cursor, bytes = string.match(ARGV[2], '^(%d+) (%d+) (%d+)$')
collection, cursor, bytes = tonumber(collection or 0), cursor or '0', tonumber(bytes or 0)
local moved = 0
while collection < COLLECTIONS do
  if moved >= BATCH then return string.format('%d %s %d', collection, cursor, bytes) end
  local first = FIRST + 3 * collection
  local rows, keys, index = KEYS[first], KEYS[first + 1], KEYS[first + 2]
  local is_limited = string.sub(limited, collection + 1, collection + 1) == '1'
  local next_cursor, found = unpack(redis.call('HSCAN', keys, cursor, 'COUNT', BATCH))
  for position = 1, #found, 2 do
    redis.call('ZADD', index, 0, BY_KEY .. found[position])
    if is_limited then
      bytes = bytes + text_length(redis.call('HGET', rows, found[position + 1]))
    end
  end
  moved, cursor = moved + #found / 2, next_cursor
  if cursor == '0' then collection = collection + 1 end
end
redis.call('HSET', counters, 'document-bytes', string.format('%d', bytes))
redis.call('SET', layout, '5')
return ''
