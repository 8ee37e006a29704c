-- Functions on the tables, the log and the sequences of a tenant. Redis evaluates this with each call, so it holds nothing
-- else.
--
-- The first three keys are those of the head, the log and its topics. The first argument declares the tables that the call
-- uses, by their numbers: `false`, or the places of the keys of the records, of their order (0 if it is not kept) and of their
-- parts; how many columns the key has, how many there are, and how many parts; and for each index, the place of its key,
-- whether the key of a record follows the indexed values, and the places of these.
--
-- A value is encoded so that the bytes of values are ordered as they are. A record is a list of its version, whether parts
-- are stored elsewhere, and its values; after it, opaque to most functions, its parts. A key of a record is its first values.
-- An entry of an index is the indexed values, the key, and the length of the key in two bytes.
local HEAD, LOG, TOPICS = KEYS[1], KEYS[2], KEYS[3]
local NULL = '\0'
local PAGE = 250
local call, byte, sub = redis.call, string.byte, string.sub
local tables = cmsgpack.unpack(ARGV[1])

local function corrupt(what)
  error('CORRUPT ' .. what)
end

-- The time of the server's clock, in milliseconds since 1970.
local function time()
  local now = call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

-- The value of an integer.
local function integer(number)
  local low = number % 4294967296
  return struct.pack('>BI4I4', 1, (number - low) / 4294967296 + 2147483648, low)
end

-- Whether these bytes come before others. Lua would compare them by the locale.
local function is_less(one, other)
  for place = 1, math.min(#one, #other) do
    local a, b = byte(one, place), byte(other, place)
    if a ~= b then return a < b end
  end
  return #one < #other
end

-- The end of the log: its number, its size, and the time and the commit of its last entry.
local head_log, head_size, head_at, head_commit = 1, 0, nil, false
local function set_head(text)
  if not text then return end
  local log, size, at, commit = string.match(text, '^(%d+) (%d+) (%-?%d+) (.*)$')
  if not log then corrupt('the head of the log is none') end
  head_log, head_size, head_at, head_commit = tonumber(log), tonumber(size), tonumber(at), commit
end

local function head_text()
  if not head_at then return '' end
  return string.format('%d %d %d ', head_log, head_size, head_at) .. head_commit
end

-- The entry of the log with this number, encoded.
local function entry_at(seq)
  return seq >= 1 and seq <= head_size and call('LINDEX', LOG, string.format('%d', seq - 1))
end

-- An entry: its time, commit, topic, assigned number, and the table and the key that it refers to.
local function decoded_entry(raw)
  local is_valid, entry = pcall(cmsgpack.unpack, raw)
  if not is_valid or type(entry) ~= 'table' or #entry ~= 7 then corrupt('an entry of the log is none') end
  return entry
end

local function commit_of(seq)
  if seq == head_size then return head_commit end
  local raw = entry_at(seq)
  return raw and decoded_entry(raw)[2]
end

local function decoded(T, raw)
  if not raw then return false end
  local is_valid, after, columns = pcall(cmsgpack.unpack_one, raw, 0)
  if not is_valid or type(columns) ~= 'table' or #columns ~= T[5] + 2 then corrupt('a record is none') end
  return { raw = raw, after = after < 0 and #raw or after, columns = columns }
end

-- The record with a key; false if there is none.
local function row_of(T, key)
  T.known = T.known or {}
  local row = T.known[key]
  if row == nil then
    row = decoded(T, call('HGET', KEYS[T[1]], key))
    T.known[key] = row
  end
  return row
end

-- The records with these keys.
local function fetch(T, keys)
  local rows = {}
  if #keys == 1 then
    rows[1] = row_of(T, keys[1])
    return rows
  end
  if #keys == 0 then return rows end
  for place, raw in ipairs(call('HMGET', KEYS[T[1]], unpack(keys))) do
    rows[place] = decoded(T, raw)
  end
  return rows
end

-- The entry of a record in an index; nil if an indexed value is null.
local function member_of(index, columns, key)
  local values = {}
  for place = 3, #index do
    local value = columns[index[place]]
    if value == NULL then return nil end
    values[place - 2] = value
  end
  if index[2] then values[#values + 1] = key end
  values[#values + 1] = struct.pack('>I2', #key)
  return table.concat(values)
end

local function key_of(member)
  local high, low = byte(member, -2, -1)
  return sub(member, -2 - (high * 256 + low), -3)
end

-- The first record of each answer so far.
local firsts = {}

-- The bytes of a bound, of which a piece may be a value in the first record of an earlier answer; nil if there is none.
local function bytes_of(bound)
  if type(bound) == 'string' then return bound end
  local pieces = {}
  for place, piece in ipairs(bound) do
    if type(piece) == 'table' then
      local row = firsts[piece[1]]
      piece = row and row.columns[piece[2]]
    end
    if not piece or piece == NULL then return nil end
    pieces[place] = piece
  end
  return table.concat(pieces)
end

-- Entries of an ordered set, kept for as long as the table does not change.
local function listed(T, set, is_descending, low, high, count)
  local command, first, last = 'ZRANGEBYLEX', low, high
  if is_descending then command, first, last = 'ZREVRANGEBYLEX', high, low end
  T.listed = T.listed or {}
  local name = table.concat({ set, command, count, #first, first }, ' ') .. last
  local found = T.listed[name]
  if not found then
    found = call(command, set, first, last, 'LIMIT', 0, count)
    T.listed[name] = found
  end
  return found
end

-- The keys of a table whose order is not kept, between two of them.
local function sorted(T, low, high, is_descending)
  local keys = {}
  for _, key in ipairs(call('HKEYS', KEYS[T[1]])) do
    if not is_less(key, low) and is_less(key, high) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(one, other)
    if is_descending then one, other = other, one end
    return is_less(one, other)
  end)
  return keys
end

-- A range is a list of: the number of its table; that of its index, 0 for the keys, or -1 for the record with a key; its ends,
-- of which the lower one is included; whether it is descending; the limit, or -1; the number of values in which no two of its
-- records are the same; the place of a value that is not null, or 0; the most bytes, or -1; the wanted parts, as bits; and
-- false, or the number of another table, the place of the value that is its key, and its wanted parts.
local function has_conditions(range)
  return range[7] > 0 or range[8] > 0
end

local function set_of(T, index)
  return index == 0 and T[2] or T[7][index][1]
end

local function distinct_values(T, index, columns, count)
  local values = {}
  for place = 1, count do
    values[place] = columns[index == 0 and place + 2 or T[7][index][place + 2]] or NULL
  end
  return table.concat(values)
end

-- Passes the records of a range and their keys to a function, in order, until it returns false. With `only_keys` the records
-- are not read, unless the range has conditions.
local function scan(range, take, only_keys)
  local T, index, left, distinct, having = tables[range[1]], range[2], range[6], range[7], range[8]
  local low, high = bytes_of(range[3]), bytes_of(range[4])
  if not low or not high or left == 0 then return end
  if index < 0 then
    local row = row_of(T, low)
    if row and (having == 0 or row.columns[having] ~= NULL) then take(row, low) end
    return
  end

  local set, is_descending, before = set_of(T, index), range[5], nil
  local count = PAGE
  if left > 0 and left < PAGE and not has_conditions(range) then count = left end
  local least, most = '[' .. low, '(' .. high
  while true do
    local found
    if set == 0 then
      found = sorted(T, low, high, is_descending)
      count = #found + 1
    else
      found = listed(T, KEYS[set], is_descending, least, most, count)
    end
    for first = 1, #found, PAGE do
      local keys = {}
      for place = first, math.min(first + PAGE - 1, #found) do
        keys[#keys + 1] = index == 0 and found[place] or key_of(found[place])
      end
      local rows = (not only_keys or has_conditions(range)) and fetch(T, keys)
      for place, key in ipairs(keys) do
        local row, matches = rows and rows[place], true
        if rows and not row then corrupt('an index has a record that is not there') end
        if having > 0 then matches = row.columns[having] ~= NULL end
        if matches and distinct > 0 then
          local values = distinct_values(T, index, row.columns, distinct)
          matches, before = values ~= before, values
        end
        if matches then
          left = left - 1
          if take(row, key) == false or left == 0 then return end
        end
      end
    end
    if #found < count then return end
    if is_descending then
      most = '(' .. found[#found]
    else
      least = '(' .. found[#found]
    end
  end
end

-- The number of the records in a range, without the one with a key, whatever the limit.
local function count(range, except)
  local T, index = tables[range[1]], range[2]
  if index < 0 or has_conditions(range) or set_of(T, index) == 0 then
    local counted = 0
    range[6] = -1
    scan(range, function(_, key)
      if key ~= except then counted = counted + 1 end
    end, true)
    return counted
  end
  local low, high = bytes_of(range[3]), bytes_of(range[4])
  if not low or not high then return 0 end
  local counted = call('ZLEXCOUNT', KEYS[set_of(T, index)], '[' .. low, '(' .. high)
  local row = counted > 0 and except ~= '' and row_of(T, except)
  if row then
    local member = index == 0 and except or member_of(T[7][index], row.columns, except)
    if member and not is_less(member, low) and is_less(member, high) then counted = counted - 1 end
  end
  return counted
end

-- The parts of a record: each is false, its text, its length if it is stored with those of the table, or for one in a key of
-- its own a list of the name, the number of pieces and the length.
local function parts_of(row)
  local is_valid, _, parts = pcall(cmsgpack.unpack_one, row.raw, row.after)
  if not is_valid or type(parts) ~= 'table' then corrupt('a record has no parts') end
  return parts
end

local function is_wanted(wanted, place)
  return bit.band(wanted, bit.lshift(1, place - 1)) ~= 0
end

-- The size of the wanted parts of a record.
local function size_of(row, wanted)
  local size = 0
  for place, part in ipairs(parts_of(row)) do
    if part and is_wanted(wanted, place) then
      size = size + (type(part) == 'table' and part[3] or type(part) == 'string' and #part or part)
    end
  end
  return size
end

-- A record for an answer: as it is stored, and before each wanted part that is stored with those of the table, its place.
local function shown(T, row, key, wanted)
  if wanted == 0 then return sub(row.raw, 1, row.after) end
  if row.columns[2] == 0 then return row.raw end
  local texts = { row.raw }
  for place, part in ipairs(parts_of(row)) do
    if type(part) == 'number' and is_wanted(wanted, place) then
      texts[#texts + 1] = place - 1
      texts[#texts + 1] = call('HGET', KEYS[T[3]], key .. string.char(place - 1))
    end
  end
  return texts
end
