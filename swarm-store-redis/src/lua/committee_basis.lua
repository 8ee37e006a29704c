-- Reads the facts that a submission to the committee is judged by.
local keys, members, days, index = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local key, all = ARGV[1], ARGV[2]

-- Changes nothing. A replica rejects this write, so no submission is judged by its stale facts.
redis.call('HDEL', keys, '')
local member = redis.call('HGET', keys, key)
local latest = redis.call('ZREVRANGEBYLEX', index, '(' .. all .. ':', '[' .. all, 'LIMIT', 0, 1)[1]
return {
  (time_of_read()),
  member and redis.call('HGET', members, member),
  latest and redis.call('HGET', days, id_of(latest)) or false,
}
