-- What the scripts share. Rows begin with words (a version, a state, ids, times) and end with text
-- that no script looks into. Ids and times stay text: Lua's numbers print with 14 digits.

-- The time by this server's clock, in milliseconds since 1970.
local function time()
  local now = redis.call('TIME')
  return now[1] .. string.format('%03d', math.floor(tonumber(now[2]) / 1000))
end

-- The time of a read, and by how much this server's clock is behind it: time never runs back behind
-- the last row of the log.
local function time_of_read(log)
  local now = time()
  local row = redis.call('LINDEX', log, -1) or ''
  local last = string.match(row, '^a (%d+) ') or string.match(row, '^[tc] %d+ (%d+)$') or now
  local behind = tonumber(last) - tonumber(now)
  if behind > 0 then return last, behind end
  return now, 0
end

-- The time of a commit. Where the clock is too far behind, it ends the script: never called after
-- the first write.
local function time_of_commit(log)
  local now, behind = time_of_read(log)
  if behind > CLOCK_TOLERANCE then
    error('BEHIND the clock is too far behind the log')
  end
  return now
end

-- What tells a row of the log from others that could have its number, in ASCII: its beginning may end
-- amid a character.
local function mark(row)
  return (string.gsub(string.sub(row, 1, 128), '[\128-\255]', '?'))
end

-- The number of a tenant's log.
local function number_of_log(counters)
  return redis.call('HGET', counters, 'log') or '1'
end

-- How a log goes on that was seen to have this number and this size, and a last row of this mark:
-- 'same', 'later' when another one has begun, or 'back'. And its number, and its size.
local function since_seen(log, counters, number, size, last)
  local length = redis.call('LLEN', log)
  local from_end = tonumber(size) - length - 1
  if size == '0' then return 'same', number_of_log(counters), length end
  if from_end < 0 and mark(redis.call('LINDEX', log, from_end)) == last then
    return 'same', number, length
  end
  local current = number_of_log(counters)
  return tonumber(current) > tonumber(number) and 'later' or 'back', current, length
end

-- Appends a row to the log; what a commit appends last is told with its outcome.
local appended = { size = 0, last = '' }
local function append(log, row)
  appended.size, appended.last = redis.call('RPUSH', log, row), mark(row)
  return string.format('%.0f', appended.size)
end

-- What reads the length of each type.
local HASH, LIST, SORTED_SET = 'HLEN', 'LLEN', 'ZCARD'

-- Reads how long these are, by the command for their type, so that the script ends where one holds
-- what is of another: a write to it would end the script with half of its work done. For keys that
-- a script writes to and has not read before its first write.
local function must_be(length, ...)
  for _, key in ipairs({ ... }) do
    redis.call(length, key)
  end
end

-- The next id of a kind. Never called before the last check.
local function mint(counters, kind)
  return string.format('%.0f', redis.call('HINCRBY', counters, kind, 1))
end

-- Whether a row is there, at this version; at none when it is not there.
local function at_version(row, version)
  if version == '' then return not row end
  return row and string.sub(row, 1, #version + 1) == version .. ' '
end

-- The words of a row, or of a field, that a pattern captures. A row without them is corrupt, which
-- ends the script: never called after the first write.
local function words(row, pattern)
  if not string.match(row, pattern) then error('CORRUPT a record is none') end
  return string.match(row, pattern)
end

-- Appends an act to the log: its time, the id that the commit gave out, or '-', and its text. Those
-- on a session are also listed there, behind their number. What tells nothing is not logged.
local function log_act(log, acts, session, now, minted, text)
  if text == '' then return end
  local row = table.concat({ 'a', now, minted, text }, ' ')
  local seq = append(log, row)
  if session == '' then return end
  local before = redis.call('HGET', acts, session)
  redis.call('HSET', acts, session, (before and before .. '\n' or '') .. seq .. ' ' .. row)
end

-- An id as it ends an entry of an index, and back.
local function entry(prefix, id)
  return prefix .. string.rep('0', 20 - #id) .. id
end

local function id_of(entry)
  return string.match(string.sub(entry, -20), '^0*(%d+)$')
end

-- The id of the newest session of a day and subject, whose listing this is.
local function newest_session(index, on)
  local last = redis.call('ZREVRANGEBYLEX', index, '(' .. on .. ':', '[' .. on, 'LIMIT', 0, 1)[1]
  return last and id_of(last)
end

-- The rows with these ids, in their order.
local function fetch(rows, ids)
  local found = {}
  for first = 1, #ids, 1000 do
    local last = math.min(first + 999, #ids)
    for _, row in ipairs(redis.call('HMGET', rows, unpack(ids, first, last))) do
      found[#found + 1] = row
    end
  end
  return found
end

