-- Reverts the migrations to layouts 7 and 3, adds `more` nonces, and marks the tenant with an older layout.
local layout, more = ARGV[1], tonumber(ARGV[2])
local function key(name) return 'swarm:{acme}:' .. name end

redis.call('DEL', key('takes:index'))
redis.call('ZREMRANGEBYLEX', key('sessions:index'), '[5:about', '(5:about:')

local moved_to = { nonce = 'nonces', latest = 'revisions', next = 'superseded' }
local takes = redis.call('HGETALL', key('takes'))
for position = 1, #takes, 2 do
  local field, value = takes[position], takes[position + 1]
  local prefix, rest = string.match(field, '^(%a+):?(.*)$')
  if moved_to[prefix] then redis.call('HSET', key(moved_to[prefix]), rest, value) end
  if prefix == 'last' then redis.call('HSET', key('counters'), 'takes', value) end
  if prefix then redis.call('HDEL', key('takes'), field) end
end
for number = 1, more do
  redis.call('HSET', key('nonces'), '3:bob' .. number, number .. ' 1')
end

if layout == '2' then
  redis.call('MSET', key('layout'), '2', 'swarm:layout', '2')
  return
end
local id = string.match(redis.call('LINDEX', key('log'), -1), '^t (%d+) ')
redis.call('LSET', key('log'), -1, 't ' .. id)
if layout == '1' then redis.call('MSET', key('layout'), '1', 'swarm:layout', '1') end
if layout == '0' then redis.call('DEL', key('layout'), 'swarm:layout') end
