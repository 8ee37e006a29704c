-- Commits transactions, one after another, each whole or not at all. Returns the outcome of each.
--
-- The arguments are: the tables; the numbers of the tables that are written; the time to live of what is written, or ''; and
-- the transactions, each a list of its kind, its identity, the position of the log that was seen (number, size, commit), the
-- repetition or false, the checks, the sequences, the changes, the entries, the key under which its outcome is kept or false,
-- and for each long part: its key, the key where it was staged, and the number of its pieces.
--
-- Everything that may fail is done before the first change of a transaction: the types of the keys are compared, and all
-- records that it changes are read. The first change needs memory, so nothing is written by a server that has none left. The
-- log and the sequences are written at the end.
local USUAL, ACCEPT_CLOCK, ACCEPT_LOG, ASIDE, LOAD = 0, 1, 2, 3, 4
local ttl = ARGV[3]
local now = time()
local sequences = {}
local pushed, topics, garbage, is_changed = {}, {}, {}, false

local function sequence(name)
  if not sequences[name] then sequences[name] = tonumber(call('HGET', HEAD, 'sequence ' .. name) or 0) end
  return sequences[name]
end

local changed_sequences = {}
local function set_sequence(name, number)
  sequences[name], changed_sequences[name] = number, true
end

-- Fails unless the keys that may be written are of the right type, or absent.
local function check_types()
  call('LLEN', LOG)
  call('ZCARD', TOPICS)
  for _, number in ipairs(cmsgpack.unpack(ARGV[2])) do
    local T = tables[number]
    call('HLEN', KEYS[T[1]])
    if T[2] > 0 then call('ZCARD', KEYS[T[2]]) end
    if T[6] > 0 then call('HLEN', KEYS[T[3]]) end
    for _, index in ipairs(T[7]) do call('ZCARD', KEYS[index[1]]) end
  end
end

-- How the log differs from the position that was seen; nil if it continues from there.
local function difference(seen_log, seen_size, seen_commit)
  if seen_size == 0 then return nil end
  if head_log > seen_log then return 'LATER' end
  local commit = commit_of(seen_size)
  if head_log ~= seen_log or not commit or commit ~= seen_commit then return 'BACK' end
end

-- The time of a commit; nil if the clock is too far behind the log.
local function time_of_commit(kind)
  if kind == ACCEPT_CLOCK or kind == ASIDE or not head_at or now >= head_at then return now end
  if kind == USUAL and head_at - now > CLOCK_TOLERANCE then return nil end
  return head_at
end

local function first_of(range)
  range[6] = 1
  local first
  scan(range, function(row) first = row end)
  return first
end

-- Whether each kind of condition is met; for one that says so, with the record that shows that it is not.
local is_met = {
  function(check)
    local row = row_of(tables[check[2]], check[3])
    return (row and row.columns[1]) == check[4]
  end,
  function(check, at) return at <= check[2] end,
  function(check)
    local row = first_of(check[2])
    if not row or row.columns[check[3]] ~= check[4] then return false end
    return not check[5] or row.columns[1] == check[5]
  end,
  function(check)
    local most, met = check[4], true
    scan(check[2], function(row)
      met = not is_less(most, row.columns[check[3]])
      return met
    end)
    return met
  end,
  function(check)
    local range, except, shows = check[2], check[3], nil
    scan(range, function(row, key)
      if key == except then return true end
      shows = shown(tables[range[1]], row, key, range[10])
      return false
    end)
    return not shows, shows
  end,
  function(check)
    local counted = count(check[2], check[3])
    return counted >= check[4] and counted <= check[5]
  end,
  function(check) return sequence(check[2]) <= check[3] end,
}

-- Whether the pieces of the long parts are there, staged or in their place.
local function are_staged(longs)
  for _, long in ipairs(longs) do
    if call('LLEN', long[1]) ~= long[3] and call('LLEN', long[2]) ~= long[3] then return false end
  end
  return true
end

-- First, because each fails if the user lacks the right. The first PERSIST has no effect: after a RENAME it would be too late
-- to fail.
local function place_long_parts(longs)
  for _, long in ipairs(longs) do
    if call('LLEN', long[1]) ~= long[3] then
      call('PERSIST', long[1])
      call('RENAME', long[2], long[1])
    end
    if ttl == '' then call('PERSIST', long[1]) end
  end
end

local INSERT, PUT, SET, REMOVE, ADD, SET_SEQUENCE = 1, 2, 3, 4, 5, 6

-- Reads everything that the changes need, so that nothing fails once something is written.
local function rehearse(changes, entries, values)
  for _, change in ipairs(changes) do
    local what = change[1]
    if what == PUT then
      local T = tables[change[2]]
      local old = row_of(T, table.concat(values(change[3]), '', 1, T[4]))
      if old and old.columns[2] ~= 0 then parts_of(old) end
    elseif what == SET or what == REMOVE then
      scan(change[2], function(row) return row.columns[2] == 0 or parts_of(row) ~= nil end)
    elseif what == ADD then
      sequence(change[2])
    end
  end
  for _, entry in ipairs(entries) do
    if entry[1] == 2 then scan(entry[2], function() return true end, true) end
  end
end

-- Removes the parts of a record that are stored elsewhere, but for those with these places and names.
local function remove_parts(T, key, row, places, names)
  if row.columns[2] == 0 then return end
  for place, part in ipairs(parts_of(row)) do
    if type(part) == 'number' and not places[place - 1] then
      call('HDEL', KEYS[T[3]], key .. string.char(place - 1))
    elseif type(part) == 'table' and not names[part[1]] then
      garbage[#garbage + 1] = KEYS[T[1]] .. ':part:' .. part[1]
    end
  end
end

local function write_row(T, key, old, columns, parts)
  local packed = cmsgpack.pack(columns)
  call('HSET', KEYS[T[1]], key, packed .. parts)
  if not old and T[2] > 0 then call('ZADD', KEYS[T[2]], 0, key) end
  for _, index in ipairs(T[7]) do
    local before = old and member_of(index, old.columns, key) or nil
    local member = member_of(index, columns, key)
    if member ~= before then
      if member then call('ZADD', KEYS[index[1]], 0, member) end
      if before then call('ZREM', KEYS[index[1]], before) end
    end
  end
  T.known = T.known or {}
  T.known[key] = { raw = packed .. parts, after = #packed, columns = columns }
  T.listed = nil
end

local function put(change, values)
  local T, columns = tables[change[2]], values(change[3])
  local key = table.concat(columns, '', 1, T[4])
  local old = change[1] == PUT and row_of(T, key)
  table.insert(columns, 1, old and old.columns[1] + 1 or 1)
  table.insert(columns, 2, change[5])
  write_row(T, key, old, columns, change[4])
  local places, names = {}, {}
  for _, elsewhere in ipairs(change[6]) do
    call('HSET', KEYS[T[3]], key .. string.char(elsewhere[1]), elsewhere[2])
    places[elsewhere[1]] = true
  end
  if old then
    for _, name in ipairs(change[7]) do names[name] = true end
    remove_parts(T, key, old, places, names)
  end
end

-- The records of a range, which are read before any of them is changed.
local function found(range)
  local rows = {}
  scan(range, function(row, key) rows[#rows + 1] = { row, key } end)
  return rows
end

local function remove(T, row, key)
  call('HDEL', KEYS[T[1]], key)
  if T[2] > 0 then call('ZREM', KEYS[T[2]], key) end
  for _, index in ipairs(T[7]) do
    local member = member_of(index, row.columns, key)
    if member then call('ZREM', KEYS[index[1]], member) end
  end
  remove_parts(T, key, row, {}, {})
  T.known[key], T.listed = false, nil
end

local function make(change, values)
  local what = change[1]
  if what == INSERT or what == PUT then
    put(change, values)
  elseif what == SET then
    local T, place, value = tables[change[2][1]], change[3], values({ change[4] })[1]
    for _, each in ipairs(found(change[2])) do
      local row, columns = each[1], {}
      for at, before in ipairs(row.columns) do columns[at] = at == place and value or before end
      write_row(T, each[2], row, columns, sub(row.raw, row.after + 1))
    end
  elseif what == REMOVE then
    local T = tables[change[2][1]]
    T.known = T.known or {}
    for _, each in ipairs(found(change[2])) do remove(T, each[1], each[2]) end
  elseif what == ADD then
    set_sequence(change[2], math.max(sequence(change[2]) + change[3], 0))
  else
    set_sequence(change[2], tonumber(change[3]))
  end
end

local function push(raw, topic)
  head_size = head_size + 1
  pushed[#pushed + 1] = raw
  if topic and byte(topic) == 1 then topics[#topics + 1] = topic .. sub(integer(head_size), 2) end
end

-- Appends the entries of a transaction.
local function append(entries, id, at, numbers, values)
  local before = head_size
  for _, entry in ipairs(entries) do
    if entry[1] == 1 then
      local topic = entry[2] and values({ entry[2] })[1]
      local key = entry[5] and values({ entry[5] })[1]
      push(cmsgpack.pack({ at, id, topic, numbers[entry[3]] or false, entry[4], key, entry[6] }), topic)
    elseif entry[1] == 2 then
      scan(entry[2], function(_, key)
        push(cmsgpack.pack({ at, id, false, false, entry[3], key, entry[4] }))
      end, true)
    else
      push(entry[2], entry[3])
      head_log, head_size, at, id = entry[4], entry[5], entry[6], entry[7]
    end
  end
  if head_size > before then head_at, head_commit, is_changed = at, id, true end
end

-- Carries out a transaction.
local function commit(transaction)
  local kind, id, seen_log, seen_size, seen_commit, repetition, checks, names, changes, entries, _, longs =
    unpack(transaction, 1, 12)
  if kind == USUAL or kind == ACCEPT_CLOCK then
    local differs = difference(seen_log, seen_size, seen_commit)
    if differs then return { 'error', differs .. ' ' } end
  end
  if repetition then
    local range, shows = repetition[1], nil
    scan(range, function(row, key)
      if row.columns[repetition[2]] == repetition[3] then
        shows = shown(tables[range[1]], row, key, range[10])
      end
      return false
    end)
    if shows then return { 'repeated', head_text(), shows } end
  end
  local at = kind == LOAD and 0 or time_of_commit(kind)
  if not at then return { 'error', 'BEHIND ' } end
  for place, check in ipairs(checks) do
    local met, shows = is_met[check[1]](check, at)
    if not met then return { 'failed', head_text(), string.format('%d', place - 1), shows } end
  end
  if not are_staged(longs) then return { 'missing' } end

  local numbers, log = {}, head_log
  if kind == ACCEPT_LOG then
    log = math.max(head_log, seen_log) + 1
    numbers[1] = log
  end
  local first = #numbers
  for place, name in ipairs(names) do
    -- A name that is given twice takes two numbers.
    local taken = 0
    for earlier = 1, place do taken = taken + (names[earlier] == name and 1 or 0) end
    numbers[first + place] = sequence(name) + taken
  end
  local function values(terms)
    local values = {}
    for place, term in ipairs(terms) do
      if type(term) == 'string' then
        values[place] = term
      elseif term == 0 then
        values[place] = integer(at)
      elseif term > 0 then
        values[place] = numbers[term] and integer(numbers[term]) or NULL
      else
        values[place] = numbers[-term] and '\2' .. string.format('%d', numbers[-term]) .. '\0' or NULL
      end
    end
    return values
  end
  if kind ~= LOAD then rehearse(changes, entries, values) end

  -- Nothing fails from the first change on.
  place_long_parts(longs)
  for _, change in ipairs(changes) do make(change, values) end
  for place, name in ipairs(names) do set_sequence(name, numbers[first + place]) end
  head_log = log
  append(entries, id, at, numbers, values)
  local outcome = { 'made', head_text(), string.format('%d', at) }
  for _, number in ipairs(numbers) do outcome[#outcome + 1] = string.format('%d', number) end
  return outcome
end

-- Writes the log and the sequences.
local function finish()
  for first = 1, #pushed, 1000 do
    call('RPUSH', LOG, unpack(pushed, first, math.min(first + 999, #pushed)))
  end
  for _, member in ipairs(topics) do call('ZADD', TOPICS, 0, member) end
  local written = {}
  if is_changed then written = { 'head', head_text() } end
  for name in pairs(changed_sequences) do
    written[#written + 1] = 'sequence ' .. name
    written[#written + 1] = string.format('%d', sequences[name])
  end
  if #written > 0 then call('HSET', HEAD, unpack(written)) end
  -- One that stays is never read.
  for _, key in ipairs(garbage) do redis.pcall('UNLINK', key) end
end

set_head(call('HGET', HEAD, 'head'))
check_types()
local outcomes = {}
for place = 4, #ARGV do
  local transaction = cmsgpack.unpack(ARGV[place])
  local attempt = transaction[11]
  local earlier = attempt and call('GET', attempt)
  if earlier then
    outcomes[#outcomes + 1] = cmsgpack.unpack(earlier)
  else
    local is_done, outcome = pcall(commit, transaction)
    if not is_done then
      local text = type(outcome) == 'table' and outcome.err or tostring(outcome)
      if not string.find(text, 'CORRUPT ', 1, true) and not string.find(text, 'WRONGTYPE', 1, true) then
        finish()
        error(outcome, 0)
      end
      outcome = { 'error', text }
    elseif attempt and outcome[1] == 'made' then
      call('SET', attempt, cmsgpack.pack(outcome), 'PX', 600000)
    end
    outcomes[#outcomes + 1] = outcome
  end
end
finish()
if ttl ~= '' then
  for _, key in ipairs(KEYS) do
    if call('PTTL', key) == -1 then call('PEXPIRE', key, ttl) end
  end
end
return outcomes
