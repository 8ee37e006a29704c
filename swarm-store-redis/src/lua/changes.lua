-- Announces the tenants that this process has changed, and tells which ones others have since it asked
-- last, if that is known: each tenant stands there once, at the number of its latest announcement.
local changes = KEYS[1]
local since = ARGV[1]

local last = tonumber(redis.call('ZREVRANGE', changes, 0, 0, 'WITHSCORES')[2] or 0)
local is_known = since ~= '' and tonumber(since) <= last
local others = is_known and redis.call('ZRANGEBYSCORE', changes, '(' .. since, '+inf') or {}
for place = 2, #ARGV do
  last = last + 1
  redis.call('ZADD', changes, last, ARGV[place])
end
return { time(), string.format('%.0f', last), is_known and 1 or 0, others }
