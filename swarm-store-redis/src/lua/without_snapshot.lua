-- The row of a session without its snapshot, which may be long.
local function without_snapshot(row)
  local last = row and string.find(row, BEFORE_SNAPSHOT, 1, true)
  return last and string.sub(row, 1, last - 1) .. '}' or row
end
