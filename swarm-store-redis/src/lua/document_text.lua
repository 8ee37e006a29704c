-- The length of the text of a document's row, in bytes.
local function text_length(row)
  local before, key_length = string.match(row, '^%d+ %d+ ()(%d+) ')
  if not before then error('CORRUPT a record is none') end
  return #row - (before + #key_length) - tonumber(key_length)
end

