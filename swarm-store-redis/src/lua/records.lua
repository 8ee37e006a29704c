-- What scripts share that read or write records. Rows begin with words (a version, a state, ids, times)
-- and end with text that no script looks into.

-- What reads the length of each type.
local HASH, SORTED_SET = 'HLEN', 'ZCARD'

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
  return string.format('%d', redis.call('HINCRBY', counters, kind, 1))
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

-- Writes the version that a row begins with where filings look it up.
local function guard_filings(field, row)
  redis.call('HSET', takes, field, string.match(row, '^%d+'))
end

-- Appends an act to the log: its time, the id that the commit gave out, or '-', and its text. Those
-- on a session are also listed there, behind their number. What tells nothing is not logged.
local function log_act(acts, session, now, minted, text)
  if text == '' then return end
  local row = table.concat({ 'a', now, minted, text }, ' ')
  redis.call('HSET', takes, 'log', append({ row }, now, mark(row)))
  if session == '' then return end
  local before = redis.call('HGET', acts, session)
  local numbered = size_after .. ' ' .. row
  redis.call('HSET', acts, session, (before and before .. '\n' or '') .. numbered)
end

-- An id as it ends an entry of an index, and back.
local function entry(prefix, id)
  return prefix .. string.rep('0', 20 - #id) .. id
end

local function id_of(entry)
  return string.match(string.sub(entry, -20), '^0*(%d+)$')
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

