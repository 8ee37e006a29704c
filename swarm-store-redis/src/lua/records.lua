-- Functions for scripts that read or write records. A row begins with words (a version, a state, ids, times)
-- and ends with text that is opaque to scripts.

-- The command that reads the length of each type.
local HASH, SORTED_SET = 'HLEN', 'ZCARD'

-- Fails unless these keys are of this type, or absent. Call it before the first write for each key that is
-- written but not read: a write to a key of another type would fail half-way.
local function must_be(length, ...)
  for _, key in ipairs({ ... }) do
    redis.call(length, key)
  end
end

-- The next id of a kind. A write: call it after the last check.
local function mint(counters, kind)
  return string.format('%d', redis.call('HINCRBY', counters, kind, 1))
end

-- Whether a row has this version; an empty version matches an absent row.
local function at_version(row, version)
  if version == '' then return not row end
  return row and string.sub(row, 1, #version + 1) == version .. ' '
end

-- The words of a row, or of a field, that a pattern captures. Fails when the row is corrupt, so it must not
-- be called after the first write.
local function words(row, pattern)
  if not string.match(row, pattern) then error('CORRUPT a record is none') end
  return string.match(row, pattern)
end

-- Writes the version of a row to the field that filings compare.
local function guard_filings(field, row)
  redis.call('HSET', takes, field, string.match(row, '^%d+'))
end

-- The next id of a kind, without assigning it.
local function next_id(counters, kind)
  return string.format('%d', tonumber(redis.call('HGET', counters, kind) or '0') + 1)
end

-- The proposed log entry for this id and time, or nil. The arguments from `first` on are: the id of the
-- proposals ('' if one entry fits any id and time), the time of the first, their number, and an entry for
-- each millisecond.
local function proposed(first, id, now)
  local for_id, from, count = ARGV[first], ARGV[first + 1], ARGV[first + 2]
  if for_id == '' then return ARGV[first + 3] end
  local place = for_id == id and now - from
  if place and place >= 0 and place < tonumber(count) then return ARGV[first + 3 + place] end
end

-- The outcome of a commit for which no proposed entry fits.
local function propose(id, now)
  return 'propose ' .. id .. ' ' .. now
end

-- Appends an act to the log: its time, and the text of its entry. Acts on a session are also listed by
-- session, preceded by their number. A change without an entry is not logged.
local function log_act(acts, session, now, text)
  if text == '' then return end
  local row = table.concat({ 'a', now, text }, ' ')
  redis.call('HSET', takes, 'log', append({ row }, now, fingerprint(row)))
  if session == '' then return end
  local before = redis.call('HGET', acts, session)
  local numbered = size_after .. ' ' .. row
  redis.call('HSET', acts, session, (before and before .. '\n' or '') .. numbered)
end

-- An index entry of this prefix and id, and the id of an entry.
local function entry(prefix, id)
  return prefix .. string.rep('0', 20 - #id) .. id
end

local function id_of(entry)
  return string.match(string.sub(entry, -20), '^0*(%d+)$')
end

-- The rows with these ids, in the same order, without those that somebody has deleted.
local function fetch(rows, ids)
  local found = {}
  for first = 1, #ids, 1000 do
    local last = math.min(first + 999, #ids)
    for _, row in ipairs(redis.call('HMGET', rows, unpack(ids, first, last))) do
      if row then found[#found + 1] = row end
    end
  end
  return found
end

