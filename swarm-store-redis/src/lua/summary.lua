-- The row of a session with nothing in it that no summary has: neither buckets nor roster, nor the weights and quotes of
-- its snapshot.
local function summary(row)
  local buckets = row and string.find(row, BEFORE_BUCKETS, 1, true)
  local snapshot = buckets and string.find(row, BEFORE_SNAPSHOT, buckets, true)
  if not snapshot then error('CORRUPT a record is none') end
  local between = string.sub(row, buckets, snapshot - 1)
  local published = string.find(between, BEFORE_PUBLICATION, 1, true)
  local weights = string.find(row, BEFORE_WEIGHTS, snapshot, true)
  return table.concat({
    string.sub(row, 1, buckets - 1),
    string.find(between, BEFORE_ROSTER, 1, true) and ',"hasRoster":true' or '',
    published and string.sub(between, published) or '',
    weights and string.sub(row, snapshot, weights - 1) .. '}' or '',
    '}',
  })
end
