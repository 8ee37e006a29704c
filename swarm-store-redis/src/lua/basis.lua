-- Reads the facts that a submission is judged by.
local tokens, members, sessions = KEYS[1], KEYS[2], KEYS[3]
local token, on, nonce = ARGV[1], ARGV[2], ARGV[3]

-- Changes nothing. A replica rejects this write, so no submission is judged by its stale facts.
redis.call('HDEL', takes, '')
local member = redis.call('HGET', tokens, token)
local session = redis.call('HGET', takes, 'newest:' .. on)
local latest, spent = false, false
if member then
  spent = redis.call('HGET', takes, 'nonce:' .. #member .. ':' .. member .. nonce)
  spent = spent and redis.call('HGET', takes, string.match(spent, ' (%d+)$'))
  latest = session and redis.call('HGET', takes, 'latest:' .. session .. ':' .. member)
end
return {
  (time_of_read()),
  member and redis.call('HGET', members, member),
  without_snapshot(session and redis.call('HGET', sessions, session)) or false,
  latest or false,
  spent,
}
