-- Migrates to layout 3: everything that a filing compares and writes is in one hash, that of the takes. Each
-- call moves about BATCH entries, from the cursor given, and returns the next cursor, or '' at the end.
local log, takes, counters = KEYS[2], KEYS[3], KEYS[5]
local nonces, revisions, superseded = KEYS[6], KEYS[7], KEYS[8]
local members, sessions, sessions_index = KEYS[9], KEYS[10], KEYS[11]
local BATCH = 500
local entries = 0

-- Calls `each` for some entries of a hash, from the cursor on. Returns the next cursor, '0' at the end.
local function scan(hash, cursor, each)
  local next_cursor, found = unpack(redis.call('HSCAN', hash, cursor, 'COUNT', BATCH))
  for position = 1, #found, 2 do each(found[position], found[position + 1]) end
  entries = entries + #found / 2
  return next_cursor
end

local function move(hash, prefix)
  return function(cursor)
    return scan(hash, cursor, function(field, value)
      redis.call('HSET', takes, prefix .. field, value)
      redis.call('HDEL', hash, field)
    end)
  end
end

local function copy_versions(hash, prefix)
  return function(cursor)
    return scan(hash, cursor, function(field, row)
      redis.call('HSET', takes, prefix .. field, words(row, '^(%d+) '))
    end)
  end
end

-- Listings are ordered by id, so the last session of a day and subject overwrites the others.
local function newest_sessions(cursor)
  local above = cursor == '0' and '[2:on' or '(' .. cursor
  local found = redis.call('ZRANGEBYLEX', sessions_index, above, '(2:on:', 'LIMIT', 0, BATCH)
  for _, listed in ipairs(found) do
    redis.call('HSET', takes, 'newest:' .. string.sub(listed, 1, -21), id_of(listed))
  end
  entries = entries + #found
  return #found == BATCH and found[BATCH] or '0'
end

local parts = {
  move(nonces, 'nonce:'),
  move(revisions, 'latest:'),
  move(superseded, 'next:'),
  copy_versions(members, 'member:'),
  copy_versions(sessions, 'session:'),
  newest_sessions,
}

local part, cursor = string.match(ARGV[2], '^(%d+) (.*)$')
part, cursor = tonumber(part or 1), cursor or '0'
while parts[part] do
  cursor = parts[part](cursor)
  if cursor == '0' then part = part + 1 end
  if entries >= BATCH then return part .. ' ' .. cursor end
end

local last = redis.call('HGET', counters, 'takes')
if last then redis.call('HSET', takes, 'last', last) end
local row = redis.call('LINDEX', log, -1)
if row then
  local number, size = redis.call('HGET', counters, 'log') or '1', redis.call('LLEN', log)
  local time = words(row, string.sub(row, 1, 1) == 'a' and '^a (%d+) ' or '^[tc] %d+ (%d+)$')
  redis.call('HSET', takes, 'log', number .. ' ' .. size .. ' ' .. time)
end
redis.call('HDEL', counters, 'takes', 'log')
redis.call('SET', layout, '3')
return ''
