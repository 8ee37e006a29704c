-- Files a take, if the guards of the filing hold, checked in the order of the port. The attempt is
-- kept with the nonce, for ever.
local members, sessions, takes, filed = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local nonces, revisions, superseded, counters = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local index, log = KEYS[9], KEYS[10]
local member, member_version = ARGV[1], ARGV[2]
local session, session_version = ARGV[3], ARGV[4]
local commit_deadline, nonce, attempt = ARGV[5], ARGV[6], ARGV[7]
local revision_before, revision, text = ARGV[8], ARGV[9], ARGV[10]
local on = ARGV[11]

local spent_field = #member .. ':' .. member .. nonce
local spent = redis.call('HGET', nonces, spent_field)
if spent and string.sub(spent, 1, #attempt + 1) == attempt .. ' ' then
  return { 'again', redis.call('HGET', takes, string.sub(spent, #attempt + 2)) }
end
if not at_version(redis.call('HGET', members, member), member_version)
  or not at_version(redis.call('HGET', sessions, session), session_version)
  or newest_session(index, on) ~= session then
  return { 'stale' }
end
local now = time_of_commit(log)
if commit_deadline ~= '' and tonumber(now) > tonumber(commit_deadline) then return { 'late' } end
if spent then return { 'nonce used' } end
local latest_field = session .. ':' .. member
local latest = redis.call('HGET', revisions, latest_field)
local latest_revision, latest_id = '0', nil
if latest then latest_revision, latest_id = string.match(latest, '^(%d+) (%d+)$') end
if latest_revision ~= revision_before then return { 'revision taken' } end

must_be(HASH, takes, superseded, counters)
must_be(LIST, filed)

local id = mint(counters, 'takes')
redis.call('HSET', takes, id, id .. ' ' .. now .. ' ' .. text)
redis.call('HSET', nonces, spent_field, attempt .. ' ' .. id)
redis.call('HSET', revisions, latest_field, revision .. ' ' .. id)
redis.call('RPUSH', filed, id)
append(log, 't ' .. id .. ' ' .. now)
if latest_id then redis.call('HSET', superseded, latest_id, id) end
return { 'filed', id .. ' ' .. now }
