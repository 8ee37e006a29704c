-- Reads a session and a page of its takes: at most `limit` takes with ids after `after`, up to the last take
-- stored when the first page was read. All pages thus belong to one position of the log, since takes never
-- change and ids only grow. Returns the session (with the first page only), that last take, the last id that
-- was examined (or '' at the end), and the takes.
local takes, filed, sessions = KEYS[1], KEYS[2], KEYS[3]
local id, after, limit, up_to, all = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5] == 'all'

local session = false
if up_to == '' then
  session = redis.call('HGET', sessions, id)
  up_to = redis.call('HGET', takes, 'last') or '0'
end
local last = tonumber(up_to)

-- Binary search: the list is ordered by id.
local low, high = 0, redis.call('LLEN', filed)
while low < high do
  local middle = math.floor((low + high) / 2)
  local above = tonumber(redis.call('LINDEX', filed, middle)) > after
  if above then high = middle else low = middle + 1 end
end
local ids = redis.call('LRANGE', filed, low, low + limit - 1)
local next_page = #ids == limit and ids[#ids] or ''
while #ids > 0 and tonumber(ids[#ids]) > last do
  ids[#ids], next_page = nil, ''
end
if #ids == 0 then return { session, up_to, '', {} } end
if all then return { session, up_to, next_page, fetch(takes, ids) } end

local next_revisions, latest = {}, {}
for position, take in ipairs(ids) do next_revisions[position] = 'next:' .. take end
for position, later in ipairs(redis.call('HMGET', takes, unpack(next_revisions))) do
  if not later or tonumber(later) > last then latest[#latest + 1] = ids[position] end
end
return { session, up_to, next_page, fetch(takes, latest) }
