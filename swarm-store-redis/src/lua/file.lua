-- Files a take, if the guards of the filing hold, checked in the order of the port. What these compare,
-- and what is written, stands in one hash. The attempt is kept with the nonce, for ever.
local filed = KEYS[1]
local member, member_version = ARGV[1], ARGV[2]
local session, session_version = ARGV[3], ARGV[4]
local commit_deadline, nonce, attempt = ARGV[5], ARGV[6], ARGV[7]
local revision_before, revision, text = ARGV[8], ARGV[9], ARGV[10]
local on = ARGV[11]

local nonce_field = 'nonce:' .. #member .. ':' .. member .. nonce
local latest_field = 'latest:' .. session .. ':' .. member
local log_at, of_member, of_session, newest, spent, latest, last = unpack(redis.call('HMGET', takes,
  'log', 'member:' .. member, 'session:' .. session, 'newest:' .. on, nonce_field, latest_field, 'last'))

guard(log_at)
if spent and string.sub(spent, 1, #attempt + 1) == attempt .. ' ' then
  return 'again ' .. (redis.call('HGET', takes, string.sub(spent, #attempt + 2)) or '')
end
if of_member ~= member_version or of_session ~= session_version or newest ~= session then
  return 'stale'
end
local now = time_of_commit()
if commit_deadline ~= '' and tonumber(now) > tonumber(commit_deadline) then return 'late' end
if spent then return 'nonce used' end
local latest_revision, latest_id = '0', nil
if latest then latest_revision, latest_id = string.match(latest, '^(%d+) (%d+)$') end
if latest_revision ~= revision_before then return 'revision taken' end

local id = string.format('%d', (last or 0) + 1)
-- The first write: where this is no list, it fails, and nothing is written.
redis.call('RPUSH', filed, id)
-- The last field is that of the revision before; where there is none, one that is written already.
redis.call('HSET', takes, 'log', append('t ' .. id .. ' ' .. now, now),
  id, id .. ' ' .. now .. ' ' .. text, 'last', id,
  nonce_field, attempt .. ' ' .. id, latest_field, revision .. ' ' .. id,
  latest_id and 'next:' .. latest_id or 'last', id)
return 'filed ' .. id .. ' ' .. now
