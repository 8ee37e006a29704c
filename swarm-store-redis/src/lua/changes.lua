-- Announces the tenants that this process has changed, and returns those that were announced since its
-- last call, if that is known. Each tenant is a member of the set, scored by its latest announcement.
local changes = KEYS[1]
local since, now = ARGV[1], redis.call('TIME')

local last = tonumber(redis.call('ZREVRANGE', changes, 0, 0, 'WITHSCORES')[2] or 0)
local is_known = since ~= '' and tonumber(since) <= last
local others = is_known and redis.call('ZRANGEBYSCORE', changes, '(' .. since, '+inf') or {}
for place = 2, #ARGV do
  last = last + 1
  redis.call('ZADD', changes, last, ARGV[place])
end
return { now[1] .. string.sub('00000' .. now[2], -6, -4), string.format('%.0f', last), is_known and 1 or 0, others }
