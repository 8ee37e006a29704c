-- Files a batch of takes, each if its guards hold, checked in the order of the port. Guards and writes use one hash.
-- Attempts are stored with their nonces, for ever. Returns an outcome per line.
--
-- The keys are the lists of takes of the sessions, and the index of the sessions that each member filed in. The
-- arguments are:
--   for each session: its version, its id, the deadline, the number of its takes in the batch;
--   for each session, then for each take: the fields that it is compared with;
--   for each take: the member's version, the attempt, the previous revision, its own revision, and its text.
-- No two takes write the same field, so everything that is compared is read before anything is written. Nothing fails
-- after the first write: the types of the hash, the index and the lists were checked by then.
local sessions, index, count = #KEYS - 3, KEYS[#KEYS - 2], 0
for place = 1, sessions do count = count + ARGV[SESSION_REST * place] end
local first_field = SESSION_REST * sessions
local fields = SESSION_FIELDS * sessions + FIELDS * count
local facts = redis.call('HMGET', takes, 'log', 'last', unpack(ARGV, first_field + 1, first_field + fields))
guard(facts[1])
redis.call('ZCARD', index)
local last, last_id, now = tonumber(facts[2] or 0), nil, nil
local rows, written, listed, outcomes = {}, {}, {}, {}

local function file(place, session_holds, deadline, held_until, ids)
  local field = SESSION_FIELDS * sessions + FIELDS * (place - 1)
  local arg = first_field + fields + REST * (place - 1)
  local spent, latest, of_member = facts[field + 3], facts[field + 4], facts[field + 5]
  local member_version, attempt, revision_before, revision, text = unpack(ARGV, arg + 1, arg + REST)

  if spent and string.sub(spent, 1, #attempt + 1) == attempt .. ' ' then
    return 'again ' .. (redis.call('HGET', takes, string.sub(spent, #attempt + 2)) or '')
  end
  if of_member ~= member_version or not session_holds then return 'stale' end
  now = now or time_of_commit()
  if deadline and tonumber(now) > deadline then return 'late' end
  if spent then return 'nonce used' end
  local latest_revision, latest_id = '0', nil
  if latest then latest_revision, latest_id = string.match(latest, '^(%d+) (%d+)$') end
  if latest_revision ~= revision_before then return 'revision taken' end
  if tonumber(now) < held_until then return 'held' end
  if not ids then return '' end

  last = last + 1
  local id, n = string.format('%d', last), #written
  last_id, ids[#ids + 1], rows[#rows + 1] = id, id, 't ' .. id .. ' ' .. now
  written[n + 1], written[n + 2] = id, id .. ' ' .. now .. ' ' .. text
  written[n + 3], written[n + 4] = ARGV[first_field + field + 1], attempt .. ' ' .. id
  written[n + 5], written[n + 6] = ARGV[first_field + field + 2], revision .. ' ' .. id
  if latest_id then
    written[n + 7], written[n + 8] = 'next:' .. latest_id, id
  else
    local session, member = string.match(ARGV[first_field + field + 2], '^latest:(%d+):(.*)$')
    listed[#listed + 1] = 0
    listed[#listed + 1] = '2:by' .. #member .. ':' .. member .. string.rep('0', 20 - #session) .. session
  end
  return 'filed ' .. id .. ' ' .. now
end

-- Whether a key is a list, or absent. A batch of one take fails later at its write, before anything is written; in a
-- larger batch the takes of such a session get no outcome.
local function is_list(key)
  return count == 1 or type(redis.pcall('LLEN', key)) == 'number'
end

for place = 1, sessions do
  local field, arg = SESSION_FIELDS * (place - 1), SESSION_REST * (place - 1)
  local version, session, deadline, of_takes = unpack(ARGV, arg + 1, arg + SESSION_REST)
  local session_holds = facts[field + 3] == version and facts[field + 4] == session
  local held_until = tonumber(facts[field + 5] or 0)
  deadline = tonumber(deadline)
  local ids = is_list(KEYS[place]) and {}
  for _ = 1, of_takes do
    outcomes[#outcomes + 1] = file(#outcomes + 1, session_holds, deadline, held_until, ids)
  end
  if ids and #ids > 0 then redis.call('RPUSH', KEYS[place], unpack(ids)) end
end
if #rows > 0 then
  redis.call('HSET', takes, 'log', append(rows, now), 'last', last_id, unpack(written))
  if #listed > 0 then redis.call('ZADD', index, unpack(listed)) end
end
return table.concat(outcomes, '\n')
