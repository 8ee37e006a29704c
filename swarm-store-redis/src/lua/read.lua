-- Answers queries, all of the same moment. Returns the time, the head of the log, and the answers.
local queries = cmsgpack.unpack(ARGV[2])

-- The numbers of the tables that entries may refer to, by name.
local referred = cmsgpack.unpack(ARGV[3])

local ALL_PARTS = 4294967295

local function rows(query, place)
  local range = query[2]
  local T, most, wanted, join = tables[range[1]], range[9], range[10], range[11]
  local found, joined, has_more, size = {}, {}, 0, 0
  scan(range, function(row, key)
    if most >= 0 then
      size = size + (wanted ~= 0 and size_of(row, wanted) or 0)
      if size > most and #found > 0 then
        has_more = 1
        return false
      end
    end
    firsts[place] = firsts[place] or row
    found[#found + 1] = shown(T, row, key, wanted)
    if join then
      local other, value = tables[join[1]], row.columns[join[2]]
      local with = value ~= NULL and row_of(other, value)
      joined[#joined + 1] = with and shown(other, with, value, join[3]) or false
    end
  end)
  return { has_more, found, joined }
end

local function number_of(query)
  local range = query[2]
  local limit = range[6]
  local counted = count(range, '')
  return string.format('%d', limit >= 0 and math.min(counted, limit) or counted)
end

local function sequence(query)
  return call('HGET', HEAD, 'sequence ' .. query[2]) or '0'
end

-- An entry: its number, and the record that it refers to.
local function entry(seq, raw, found)
  local referring = decoded_entry(raw)
  local number, key = referred[referring[5]], referring[6]
  local row = number and row_of(tables[number], key)
  found[#found + 1] = string.format('%d', seq)
  found[#found + 1] = raw
  found[#found + 1] = row and shown(tables[number], row, key, ALL_PARTS) or false
end

local function entries(query)
  local topic, after, limit = query[2], query[3], query[4]
  local found = {}
  if limit == 0 then return found end
  if not topic then
    local last = limit > 0 and math.min(after + limit, head_size) or head_size
    if after >= last then return found end
    local raws = call('LRANGE', LOG, string.format('%d', after), string.format('%d', last - 1))
    for place, raw in ipairs(raws) do entry(after + place, raw, found) end
    return found
  end
  local members = call('ZRANGEBYLEX', TOPICS, '[' .. topic .. sub(integer(after + 1), 2), '(' .. topic .. '\255', 'LIMIT', 0, limit)
  for _, member in ipairs(members) do
    local high, low = struct.unpack('>I4I4', sub(member, -8))
    local seq = (high - 2147483648) * 4294967296 + low
    local raw = entry_at(seq)
    if raw then entry(seq, raw, found) end
  end
  return found
end

local answer = {
  rows,
  number_of,
  sequence,
  entries,
  function(query) return commit_of(query[2]) or false end,
}

-- Changes nothing. A replica rejects this write, so nothing is judged by its stale facts.
if ARGV[4] ~= '' then call('HDEL', HEAD, '') end
local now = time()
set_head(call('HGET', HEAD, 'head'))
local answers = {}
for place, query in ipairs(queries) do
  answers[place] = answer[query[1]](query, place)
end
return { string.format('%d', now), head_text(), answers }
