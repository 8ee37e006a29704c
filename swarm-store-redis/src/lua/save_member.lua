-- Writes a member, its token, its key, and the message that comes with it, if the guards hold.
local members, tokens, keys, challenges = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local outbox, outbox_index, counters = KEYS[6], KEYS[7], KEYS[8]
local id, expected, row = ARGV[1], ARGV[2], ARGV[3]
local token, held_key = ARGV[4], ARGV[5]
local challenge, proof = ARGV[6], ARGV[7]
local mail, queued, queued_prefix = ARGV[8], ARGV[9], ARGV[10]

local now = time()
local before = redis.call('HGET', members, id)
if not at_version(before, expected) then return 'moved' end
if proof ~= '' then
  local live = redis.call('HGET', challenges, challenge)
  if not live then return 'moved' end
  local expires, hash = string.match(live, '^(%-?%d+) (%x+)$')
  if hash ~= proof or tonumber(now) > tonumber(expires) then return 'moved' end
end
if held_key ~= '' then
  local holder = redis.call('HGET', keys, held_key)
  if holder and holder ~= id then return 'held ' .. holder end
end

redis.call('HSET', members, id, row)
if before then
  local old_token, old_key = string.match(before, '^%d+ (%S+) (%S+) ')
  if old_token ~= '-' then redis.call('HDEL', tokens, old_token) end
  if old_key ~= '-' and redis.call('HGET', keys, old_key) == id then
    redis.call('HDEL', keys, old_key)
  end
end
if token ~= '' then redis.call('HSET', tokens, token, id) end
if held_key ~= '' then redis.call('HSET', keys, held_key, id) end
if mail ~= '' then
  local message = mint(counters, 'messages')
  local head = table.concat({ '1', queued, message, now, now }, ' ')
  redis.call('HSET', outbox, message, head .. ' ' .. mail)
  redis.call('ZADD', outbox_index, 0, entry(queued_prefix, message))
end
return committed('saved')
