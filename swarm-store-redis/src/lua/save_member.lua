-- Writes a member, if the guards hold: its state, token and key, and the message that goes with it.
local members, tokens, keys, challenges, index = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local outbox, outbox_index, counters = KEYS[7], KEYS[8], KEYS[9]
local id, expected, row = ARGV[1], ARGV[2], ARGV[3]
local token, held_key = ARGV[4], ARGV[5]
local challenge, proof = ARGV[6], ARGV[7]
local mail, queued, queued_prefix = ARGV[8], ARGV[9], ARGV[10]
local prefix, state_prefix, act = ARGV[11], ARGV[12], ARGV[13]
local quota = ARGV[14]

local now = time_of_commit()
local before = redis.call('HGET', members, id)
if not at_version(before, expected) then return 'stale' end
if proof ~= '' then
  local live = redis.call('HGET', challenges, challenge)
  if not live then return 'stale' end
  local expires, seed = string.match(live, '^%-?%d+ (%-?%d+) (%x+)$')
  if seed ~= proof or tonumber(now) > tonumber(expires) then return 'stale' end
end
if held_key ~= '' then
  local holder = redis.call('HGET', keys, held_key)
  if holder and holder ~= id then return 'held ' .. holder end
end
if quota ~= '' then
  local others = redis.call('ZLEXCOUNT', index, '[' .. state_prefix, '(' .. state_prefix .. '\255')
  if redis.call('ZSCORE', index, state_prefix .. id) then others = others - 1 end
  if others >= tonumber(quota) then return 'full' end
end
local old_state, old_token, old_key
if before then old_state, old_token, old_key = words(before, '^%d+ (%S+) (%S+) (%S+) ') end
must_be(HASH, tokens, keys, outbox, counters)
must_be(SORTED_SET, index, outbox_index)

redis.call('HSET', members, id, row)
guard_filings('member:' .. id, row)
if before then
  redis.call('ZREM', index, prefix .. #old_state .. ':' .. old_state .. id)
  if old_token ~= '-' then redis.call('HDEL', tokens, old_token) end
  if old_key ~= '-' and redis.call('HGET', keys, old_key) == id then
    redis.call('HDEL', keys, old_key)
  end
end
redis.call('ZADD', index, 0, state_prefix .. id)
if token ~= '' then redis.call('HSET', tokens, token, id) end
if held_key ~= '' then redis.call('HSET', keys, held_key, id) end
if mail ~= '' then
  local message = mint(counters, 'messages')
  local head = table.concat({ '1', queued, message, now, now }, ' ')
  redis.call('HSET', outbox, message, head .. ' ' .. mail)
  redis.call('ZADD', outbox_index, 0, entry(queued_prefix, message))
end
log_act('', '', now, act)
return committed('saved')
