-- Files a submission to the committee, if its guards hold, checked in the order of the port. The attempt
-- is stored with the day and the member, for ever.
local members, days, submissions, index = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local attempts, latest, counters, counts = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local member, member_version = ARGV[1], ARGV[2]
local day, day_version = ARGV[3], ARGV[4]
local commit_deadline, attempt, text = ARGV[5], ARGV[6], ARGV[7]
local on, by, subject = ARGV[8], ARGV[9], ARGV[10]
local quota = ARGV[11]

local again = redis.call('HGET', attempts, by .. attempt)
if again then return 'again ' .. (redis.call('HGET', submissions, again) or '') end
if not at_version(redis.call('HGET', members, member), member_version)
  or not at_version(redis.call('HGET', days, day), day_version) then
  return 'stale'
end
local now = time_of_commit()
if tonumber(now) > tonumber(commit_deadline) then return 'late' end
if quota ~= '' and tonumber(redis.call('HGET', counts, by) or '0') >= tonumber(quota) then
  return 'full'
end
local before = redis.call('HGET', latest, by .. subject)
must_be(HASH, submissions, counters, counts)
must_be(SORTED_SET, index)

local id = mint(counters, 'committee takes')
redis.call('HSET', submissions, id, now .. ' ' .. text)
redis.call('HSET', attempts, by .. attempt, id)
redis.call('HINCRBY', counts, by, 1)
redis.call('ZADD', index, 0, entry(on, id), 0, entry(by, id))
if before then redis.call('ZREM', index, entry(by, before)) end
redis.call('HSET', latest, by .. subject, id)
redis.call('HSET', takes, 'log', append({ 'c ' .. id .. ' ' .. now }, now))
return 'filed ' .. now
