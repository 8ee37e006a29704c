-- Migrates to layout 7: sessions are also listed by subject, and the sessions that each member filed in are. Each call
-- moves about BATCH entries, from the cursor given (the part, and its cursor), and returns the next cursor, or '' at the
-- end.
local takes, sessions_index, takes_index = KEYS[3], KEYS[11], KEYS[12]
local BATCH = 500

-- The listings of a day and subject begin with `2:on10:2026-11-21`; what follows is the subject with its length, and the
-- id.
local function by_subject(cursor)
  local above = cursor == '0' and '[2:on' or '(' .. cursor
  local found = redis.call('ZRANGEBYLEX', sessions_index, above, '(2:on:', 'LIMIT', 0, BATCH)
  for _, listed in ipairs(found) do
    redis.call('ZADD', sessions_index, 0, '5:about' .. string.sub(listed, 18))
  end
  return #found == BATCH and found[BATCH] or '0'
end

local function by_member(cursor)
  local next_cursor, found = unpack(redis.call('HSCAN', takes, cursor, 'MATCH', 'latest:*', 'COUNT', BATCH))
  for position = 1, #found, 2 do
    local session, member = string.match(found[position], '^latest:(%d+):(.*)$')
    redis.call('ZADD', takes_index, 0, '2:by' .. #member .. ':' .. member .. string.rep('0', 20 - #session) .. session)
  end
  return next_cursor
end

local parts = { by_subject, by_member }
local part, cursor = string.match(ARGV[2], '^(%d+) (.*)$')
part = tonumber(part or 1)
cursor = parts[part](cursor or '0')
if cursor ~= '0' then return part .. ' ' .. cursor end
if parts[part + 1] then return (part + 1) .. ' 0' end
redis.call('SET', layout, '7')
return ''
