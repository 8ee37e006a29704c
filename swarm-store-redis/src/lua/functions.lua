-- Functions that compiled scripts call: each script contains those that it names, since Redis evaluates it whole with each
-- call. A line of three dashes begins a function. One only calls functions before it.
--
-- A part of the records, `D`, is the lasting or the transient ones: the names of its hash, of its ordered set and of the hash
-- of its parts; what a script knows of the fields of the hash (`false` if there is none); and the fields that it changes.

--- corrupt
local function corrupt(what)
  error('CORRUPT ' .. what, 0)
end

--- time
-- The time of the server's clock, in milliseconds since 1970.
local function time()
  local now = call('TIME')
  return now[1] * 1000 + math.floor(now[2] / 1000)
end

--- integer
-- An integer as a value (`value.rs`).
local function integer(number)
  if number > 0 and number < 256 then return char(25, number) end
  if number >= 256 and number < 65536 then return struct.pack('>BI2', 26, number) end
  if number >= 65536 and number < 16777216 then return struct.pack('>BI3', 27, number) end
  if number >= 1099511627776 and number < 281474976710656 then return struct.pack('>BI6', 30, number) end
  local length, above, size = 0, 1, number < 0 and -number or number + 1
  while above < size or number < 0 and length == 0 do length, above = length + 1, above * 256 end
  if length == 0 then return '\24' end
  if number < 0 then return struct.pack('>BI' .. length, 24 - length, above + number) end
  return struct.pack('>BI' .. length, 24 + length, number)
end

--- is_less
-- Whether these bytes come before others. Lua would compare them by the locale.
local function is_less(one, other)
  for place = 1, math.min(#one, #other) do
    local a, b = byte(one, place), byte(other, place)
    if a ~= b then return a < b end
  end
  return #one < #other
end

--- number_at
-- The number that is stored at a place, and the place after it.
local function number_at(text, at)
  local length = (byte(text, at) or 0) - 24
  if length < 0 or length > 8 or at + length > #text then corrupt('a record has no number') end
  if length == 0 then return 0, at + 1 end
  return struct.unpack('>I' .. length, text, at + 1), at + 1 + length
end

--- past
-- The place after the value at a place. Nulls at the end are left out, so it is the same place after the end.
local function past(text, at)
  local kind = byte(text, at)
  if not kind then return at end
  if kind == 0 then return at + 1 end
  if kind < 48 then return at + 1 + math.abs(kind - 24) end
  repeat
    at = string.find(text, '%z', at + 1)
    if not at then corrupt('a record is too short') end
  until byte(text, at + 1) ~= 255
  return at + 1
end

--- nth
-- The value after as many others from a place on.
local function nth(text, at, others)
  for _ = 1, others do at = past(text, at) end
  return at > #text and '\0' or sub(text, at, past(text, at) - 1)
end

--- checked
-- Fails unless this is a record with at most as many columns besides its key.
local function checked(raw, columns)
  if #raw < 3 or byte(raw) > 1 then corrupt('a record is none') end
  local _, at = number_at(raw, 2)
  for _ = 1, columns do at = past(raw, at) end
  if at ~= #raw + 1 then corrupt('a record is none') end
end

--- with
-- A record with another value after as many others.
local function with(raw, others, value)
  local at = 2
  for _ = 1, others do
    if at > #raw then raw = raw .. '\0' end
    at = past(raw, at)
  end
  return sub(raw, 1, at - 1) .. value .. sub(raw, past(raw, at))
end

--- get
local function get(D, field)
  local raw = D.rows[field]
  if raw == nil then
    raw = call('HGET', D.hash, field)
    D.rows[field] = raw
  end
  return raw
end

--- put
local function put(D, field, raw)
  D.rows[field], D.written[#D.written + 1] = raw, field
end

--- flush
-- Writes what was put.
local function flush(D)
  local set, gone = {}, {}
  for _, field in ipairs(D.written) do
    local raw = D.rows[field]
    if raw then
      set[#set + 1] = field
      set[#set + 1] = raw
    else
      gone[#gone + 1] = field
    end
  end
  for first = 1, #set, 1000 do call('HSET', D.hash, unpack(set, first, math.min(first + 999, #set))) end
  for first = 1, #gone, 1000 do call('HDEL', D.hash, unpack(gone, first, math.min(first + 999, #gone))) end
end

--- fetch
-- What is in these fields.
local function fetch(D, fields)
  local raws, unknown = {}, {}
  for place, field in ipairs(fields) do
    raws[place] = D.rows[field]
    if raws[place] == nil then unknown[#unknown + 1] = field end
  end
  if #unknown == 0 then return raws end
  local found, at = call('HMGET', D.hash, unpack(unknown)), 0
  for place = 1, #fields do
    if raws[place] == nil then
      at = at + 1
      raws[place] = found[at]
    end
  end
  return raws
end

--- key_of
-- The key in an entry of an index: its length, in two bytes, is at the end.
local function key_of(entry)
  local high, low = byte(entry, -2, -1)
  return sub(entry, -2 - (high * 256 + low), -3)
end

--- own_key
-- The key in an entry of the order of a table.
local function own_key(entry)
  return sub(entry, 3)
end

--- first
-- The first entry between two bounds.
local function first(D, low, high, is_descending)
  if is_descending then return call('ZREVRANGEBYLEX', D.order, high, low, 'LIMIT', '0', '1')[1] end
  return call('ZRANGEBYLEX', D.order, low, high, 'LIMIT', '0', '1')[1]
end

--- scan
-- Passes the keys and the records between two bounds to a function, in order, until it returns false. Those that do not
-- match do not count. What is stored of their parts is passed with them if they are wanted.
local function scan(D, code, key_in, low, high, is_descending, limit, matches, with_parts, take)
  local command, from, to = 'ZRANGEBYLEX', low, high
  if is_descending then command, from, to = 'ZREVRANGEBYLEX', high, low end
  local count = not matches and limit >= 0 and math.min(limit, 250) or 250
  while limit ~= 0 do
    local found, keys, fields = call(command, D.order, from, to, 'LIMIT', 0, count), {}, {}
    for place, entry in ipairs(found) do
      keys[place] = key_in(entry)
      fields[place] = code .. keys[place]
    end
    local raws, parts = fetch(D, fields), {}
    if with_parts then
      for place, field in ipairs(fields) do fields[place] = field .. '\254' end
      parts = fetch(D, fields)
    end
    for place, raw in ipairs(raws) do
      -- A record that somebody has deleted is not there.
      if raw and (not matches or matches(keys[place], raw)) then
        limit = limit - 1
        if take(keys[place], raw, parts[place]) == false or limit == 0 then return end
      end
    end
    if #found < count then return end
    from = '(' .. found[#found]
  end
end

--- parts_of
-- The parts of a record, from what is stored of them: for each the kind (0: none, 1: here, 48: in the hash of parts, 49: in a
-- key of its own, 50: here, shortened), the length, the name, and for one in the hash that is veiled (51) the number of the
-- values of the record before the key of another one, the code of its table, and the number of its values before the one that
-- is null as long as the part is veiled.
local function parts_of(stored)
  local found, at, kind, length, name, veil, _ = {}, 1
  while stored and at <= #stored do
    kind, length, name, veil = byte(stored, at), 0, nil, nil
    if kind == 0 then
      at = at + 1
    elseif kind < 48 then
      kind, length, at = 1, number_at(stored, at)
      at = at + length
    else
      length, at = number_at(stored, at + 1)
      if kind == 50 then
        local short
        short, at = number_at(stored, at)
        at = at + short
      elseif kind == 49 then
        _, at = number_at(stored, at)
        name, at = sub(stored, at, at + 63), at + 64
      elseif kind == 51 then
        kind, veil = 48, {}
        veil[1], at = number_at(stored, at)
        veil[2], at = sub(stored, at, at + 1), at + 2
        veil[3], at = number_at(stored, at)
      end
    end
    found[#found + 1] = { kind, length, name, veil }
  end
  return found
end

--- remove_parts
-- Removes the parts of a record that are elsewhere, but for those with these places and names.
local function remove_parts(D, field, raw, places, names)
  if byte(raw) == 0 then return end
  for place, part in ipairs(parts_of(get(D, field .. '\254'))) do
    if part[1] == 48 and not places[place - 1] then
      call('HDEL', D.parts, field .. char(place - 1))
    elseif part[1] == 49 and not string.find(names, part[3], 1, true) then
      garbage[#garbage + 1] = D.parts .. ':' .. part[3]
    end
  end
end

--- size_of
-- The size of the wanted parts, which are bits.
local function size_of(stored, wanted)
  local size = 0
  for place, part in ipairs(parts_of(stored)) do
    if bit.band(wanted, bit.lshift(1, place - 1)) ~= 0 then size = size + part[2] end
  end
  return size
end

--- is_veiled
local function is_veiled(D, veil, raw)
  local other = veil and get(D, veil[2] .. nth(raw, 2, veil[1]))
  return veil and (not other or nth(other, 2, veil[3]) == '\0')
end

--- beside
-- What is stored of the parts of a record, with the wanted ones that are in the hash of parts, each preceded by its place. One
-- that is veiled is left out, unless the highest bit is wanted.
local function beside(D, field, stored, wanted, raw)
  local texts, unveiled = { stored }, bit.band(wanted, bit.lshift(1, 31)) ~= 0
  for place, part in ipairs(parts_of(stored)) do
    local is_wanted = part[1] == 48 and bit.band(wanted, bit.lshift(1, place - 1)) ~= 0
    if is_wanted and (unveiled or not is_veiled(D, part[4], raw)) then
      texts[#texts + 1] = place - 1
      texts[#texts + 1] = call('HGET', D.parts, field .. char(place - 1))
    end
  end
  return texts
end

--- end_of
-- The end of the log: its number, its size, and the time and the commit of its last entry.
local function end_of(head)
  if not head then return 1, 0, false, '' end
  if #head ~= 40 then corrupt('the head of the log is none') end
  return struct.unpack('>I8I8i8c16', head)
end

--- commit_of
-- The commit of the entry with this number.
local function commit_of(seq, size, commit)
  if seq == 0 or seq > size then return false end
  if seq == size then return commit end
  local raw = call('LINDEX', LOG, string.format('%d', seq - 1))
  return raw and sub(raw, 1, 16)
end

--- entries
-- Entries of the log, with their numbers and the wanted parts of the records that they refer to; those of a topic between two
-- bounds.
local function entries(head, after, limit, wanted, low, high)
  local found, _, size = {}, end_of(head)
  local function add(seq, raw)
    local length = byte(raw, 17)
    local field = length and length > 0 and sub(raw, 18, 17 + length)
    local row = field and get(D, field)
    found[#found + 1] = seq
    found[#found + 1] = raw
    local stored = row and get(D, field .. '\254')
    found[#found + 1] = row
    found[#found + 1] = row and byte(row) == 1 and beside(D, field, stored, wanted, row) or stored
  end
  local last = limit >= 0 and math.min(after + limit, size) or size
  if low then
    for _, entry in ipairs(limit ~= 0 and call('ZRANGEBYLEX', D.order, low, high, 'LIMIT', 0, limit) or {}) do
      local seq = struct.unpack('>I6', sub(entry, -6))
      local raw = seq <= size and call('LINDEX', LOG, string.format('%d', seq - 1))
      if raw then add(seq, raw) end
    end
  elseif after < last then
    local raws = call('LRANGE', LOG, string.format('%d', after), string.format('%d', last - 1))
    for place, raw in ipairs(raws) do add(after + place, raw) end
  end
  return found
end

--- differs
-- How the log differs from the position that was seen: its number, its size and its commit. False if it continues from there.
local function differs(position)
  local seen_log, seen_size, seen_commit = struct.unpack('>I8I8c16', position)
  if seen_size == 0 then return false end
  if log > seen_log then return 'LATER ' end
  if log < seen_log or commit_of(seen_size, size, last) ~= seen_commit then return 'BACK ' end
  return false
end

--- push
-- Appends an entry to the log: the commit, the field of the record that it refers to, and the rest.
local function push(id, field, rest, topic)
  size = size + 1
  pushed[#pushed + 1] = id .. char(#field) .. field .. rest
  if topic then call('ZADD', D.order, '0', topic .. struct.pack('>I6', size)) end
end
