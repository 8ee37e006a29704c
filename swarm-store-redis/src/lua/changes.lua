-- Announces the tenants that this process has changed, and returns those that were announced since its last call, if that is
-- known: the announcement that it read last must still be there.
local changes, since, now = KEYS[1], ARGV[1], redis.call('TIME')

local found = since ~= '' and redis.call('XRANGE', changes, since, '+') or {}
local is_known = #found > 0 and found[1][1] == since
if not is_known then found = redis.call('XREVRANGE', changes, '+', '-', 'COUNT', 1) end
local last, others = #found > 0 and found[#found][1], {}
for place = 2, #found do others[place - 1] = found[place][2][2] end

local function announce(tenant)
  last = redis.call('XADD', changes, 'MAXLEN', '~', ARGV[2], '*', 'tenant', tenant)
end
for place = 3, #ARGV do announce(ARGV[place]) end
-- The next call needs one to compare with. This names no tenant.
if not last then announce('') end
return { now[1] .. string.sub('00000' .. now[2], -6, -4), last, is_known and 1 or 0, others }
