-- Files takes, each if the guards of its filing hold, checked in the order of the port. What these compare,
-- and what is written, stands in one hash. Attempts are kept with their nonces, for ever. The arguments are
-- the fields that each take is checked against, of which the first two are written, too, and behind those of
-- all takes the rest of each. No two write the same field, so that all that is compared is read before anything
-- is written, and nothing may fail after that but what is asked of `push`. The outcomes are lines.
local count = #KEYS - 2
local facts = redis.call('HMGET', takes, 'log', 'last', unpack(ARGV, 1, FIELDS * count))
guard(facts[1])
local last, now = facts[2] or 0, nil
local rows, written = {}, {}

-- A take whose id cannot be listed has no outcome; alone, it ends the script, and nothing is written.
local push = count == 1 and redis.call or redis.pcall

local function file(filed, place)
  local field, arg = FIELDS * place, FIELDS * count + REST * place
  local spent, latest, of_member, of_session, newest = unpack(facts, field + 3, field + 7)
  local member_version, session, session_version, commit_deadline, attempt, revision_before, revision,
    text = unpack(ARGV, arg + 1, arg + REST)

  if spent and string.sub(spent, 1, #attempt + 1) == attempt .. ' ' then
    return 'again ' .. (redis.call('HGET', takes, string.sub(spent, #attempt + 2)) or '')
  end
  if of_member ~= member_version or of_session ~= session_version or newest ~= session then
    return 'stale'
  end
  now = now or time_of_commit()
  if commit_deadline ~= '' and tonumber(now) > tonumber(commit_deadline) then return 'late' end
  if spent then return 'nonce used' end
  local latest_revision, latest_id = '0', nil
  if latest then latest_revision, latest_id = string.match(latest, '^(%d+) (%d+)$') end
  if latest_revision ~= revision_before then return 'revision taken' end

  local id = string.format('%d', last + 1)
  if type(push('RPUSH', filed, id)) == 'table' then return '' end
  last = id
  rows[#rows + 1] = 't ' .. id .. ' ' .. now
  local n = #written
  written[n + 1], written[n + 2] = id, id .. ' ' .. now .. ' ' .. text
  written[n + 3], written[n + 4] = ARGV[field + 1], attempt .. ' ' .. id
  written[n + 5], written[n + 6] = ARGV[field + 2], revision .. ' ' .. id
  if latest_id then written[n + 7], written[n + 8] = 'next:' .. latest_id, id end
  return 'filed ' .. id .. ' ' .. now
end

local outcomes = {}
for place = 1, count do
  outcomes[place] = file(KEYS[place], place - 1)
end
if #rows > 0 then
  redis.call('HSET', takes, 'log', append(rows, now), 'last', last, unpack(written))
end
return table.concat(outcomes, '\n')
