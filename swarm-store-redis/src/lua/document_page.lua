-- Reads the documents with the keys after `above`, in their order: at most `limit`, and no more than `most_bytes` of
-- text, but one at least. The last row is '' if there are more. Without texts, rows end with the key.
local rows, keys, index = KEYS[1], KEYS[2], KEYS[3]
local above, limit = ARGV[1], tonumber(ARGV[2])
local most_bytes, without_texts = tonumber(ARGV[3]), ARGV[4]

local found, bytes = {}, 0
local listed = redis.call('ZRANGEBYLEX', index, above, '(' .. BY_KEY .. '\255', 'LIMIT', 0, limit + 1)
for _, entry in ipairs(listed) do
  local row = redis.call('HGET', rows, redis.call('HGET', keys, string.sub(entry, #BY_KEY + 1)))
  local length = text_length(row)
  if without_texts ~= '' then row, length = string.sub(row, 1, -1 - length), 0 end
  bytes = bytes + length
  if #found == limit or (bytes > most_bytes and #found > 0) then
    found[#found + 1] = ''
    return found
  end
  found[#found + 1] = row
end
return found
