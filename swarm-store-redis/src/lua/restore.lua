-- Writes a batch of a restore, to keys that are read only once they are renamed. Idempotent: a batch has a
-- number, and one that was written is not written again. The keys are the marker and those that are written;
-- each expires, in case the restore is never committed. The arguments after the number and the time to live
-- are operations: a name, the place of the key, and what the name says.
local marker = KEYS[1]
local batch, ttl = ARGV[1], ARGV[2]
if redis.call('GET', marker) == batch then return 'written' end

local place = 2
local function next_argument()
  place = place + 1
  return ARGV[place]
end

local operations = {
  -- Sets a field.
  set = function(key) redis.call('HSET', key, next_argument(), next_argument()) end,
  -- Adds to the end of a list.
  push = function(key) redis.call('RPUSH', key, next_argument()) end,
  -- Adds to an index.
  list = function(key) redis.call('ZADD', key, 0, next_argument()) end,
  -- Counts.
  count = function(key) redis.call('HINCRBY', key, next_argument(), 1) end,
  -- Adds a line to a field.
  line = function(key)
    local field, line = next_argument(), next_argument()
    local before = redis.call('HGET', key, field)
    redis.call('HSET', key, field, (before and before .. '\n' or '') .. line)
  end,
  -- Sets the latest revision and take id of a member in a session, and links the take before.
  revision = function(key)
    local field, revision, id = next_argument(), next_argument(), next_argument()
    local before = redis.call('HGET', key, field)
    if before then redis.call('HSET', key, 'next:' .. string.match(before, '(%d+)$'), id) end
    redis.call('HSET', key, field, revision .. ' ' .. id)
  end,
  -- Sets the latest submission of a member on a day about a subject, and lists it in place of the one before.
  latest = function(key)
    local index, field = KEYS[tonumber(next_argument())], next_argument()
    local by, id = next_argument(), next_argument()
    local before = redis.call('HGET', key, field)
    if before then redis.call('ZREM', index, entry(by, before)) end
    redis.call('ZADD', index, 0, entry(by, id))
    redis.call('HSET', key, field, id)
  end,
}

while place < #ARGV do
  local operation = next_argument()
  operations[operation](KEYS[tonumber(next_argument())])
end
redis.call('SET', marker, batch)
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ttl) end
end
return 'written'
