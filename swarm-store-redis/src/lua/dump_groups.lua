-- Writes the groups of documents by id, from a page of their index; returns the number of entries in it.
local index, groups = KEYS[1], KEYS[2]
local first, last, ttl = ARGV[1], ARGV[2], ARGV[3]

local page = redis.call('ZRANGE', index, first, last)
for _, listed in ipairs(page) do
  -- The index has the keys of the documents too.
  local start = string.match(listed, '^5:group%d+:()')
  if start then redis.call('HSET', groups, id_of(listed), string.sub(listed, start, -21)) end
end
redis.call('PEXPIRE', groups, ttl)
return #page
