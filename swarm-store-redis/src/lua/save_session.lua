-- Writes a session, if it has the expected version, the expected number of takes (if given), and no take
-- filed after `none_after` (if given). The time of its publication never changes. With `all`, removes the
-- session instead; its id stays used, and takes of its day and subject go to the newest session left there.
-- The rest of the row, if its snapshot is long, was staged in pieces, and is renamed.
-- The acts, the last arguments, are appended to the log; with `opens`, a row that opens each take follows.
local sessions, index, filed, acts = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local snapshot, staged = KEYS[6], KEYS[7]
local id, expected, count, row = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local prefix, state_prefix, published_prefix = ARGV[5], ARGV[6], ARGV[7]
local none_after, all, on, about, opens = ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12] ~= ''
local pieces = tonumber(ARGV[13])
local FIRST_ACT = 15

local before = redis.call('HGET', sessions, id)
if not at_version(before, expected) then return 'stale' end
if count ~= '' and redis.call('LLEN', filed) ~= tonumber(count) then return 'stale' end
if none_after ~= '' then
  -- The last take is the latest, unless a clock that was behind the log was accepted.
  local first = redis.call('HGET', takes, 'clock') and 0 or -1
  for _, take in ipairs(redis.call('LRANGE', filed, first, -1)) do
    local filed_at = words(redis.call('HGET', takes, take), '^%d+ (%d+) ')
    if tonumber(filed_at) > tonumber(none_after) then return 'stale' end
  end
end
if pieces > 0 and redis.call('LLEN', staged) ~= pieces then return 'stale' end
local was_cut = redis.call('LLEN', snapshot) > 0
local old_state = words(before, '^%d+ (%S+) ')
local now = time_of_commit()
local to_open = opens and redis.call('LLEN', filed) or 0
must_be(HASH, acts)
must_be(SORTED_SET, index)

local function log_acts()
  for place = FIRST_ACT, FIRST_ACT + ARGV[14] - 1 do log_act(acts, id, now, ARGV[place]) end
  local prefix = 'o ' .. now .. ' '
  for first = 0, to_open - 1, 1000 do
    local rows = redis.call('LRANGE', filed, first, first + 999)
    for place, take in ipairs(rows) do rows[place] = prefix .. take end
    redis.call('HSET', takes, 'log', append(rows, now))
  end
end

-- First, because each fails if the user lacks the right. The first PERSIST has no effect: after a RENAME it would be too
-- late to fail.
if pieces > 0 then
  redis.call('PERSIST', snapshot)
  redis.call('RENAME', staged, snapshot)
  redis.call('PERSIST', snapshot)
elseif was_cut then
  redis.call('UNLINK', snapshot)
end
redis.call('HDEL', takes, 'hold:' .. id)
if all ~= '' then
  redis.call('HDEL', sessions, id)
  redis.call('HDEL', takes, 'session:' .. id)
  redis.call('ZREM', index, entry(all, id), entry(state_prefix, id), entry(on, id), entry(about, id))
  if published_prefix ~= '' then redis.call('ZREM', index, entry(published_prefix, id)) end
  local left = redis.call('ZREVRANGEBYLEX', index, '(' .. on .. ':', '[' .. on, 'LIMIT', 0, 1)[1]
  if left then
    redis.call('HSET', takes, 'newest:' .. on, id_of(left))
  else
    redis.call('HDEL', takes, 'newest:' .. on)
  end
  log_acts()
  return committed('saved')
end

redis.call('HSET', sessions, id, row)
guard_filings('session:' .. id, row)
redis.call('ZREM', index, entry(prefix .. #old_state .. ':' .. old_state, id))
redis.call('ZADD', index, 0, entry(state_prefix, id))
if published_prefix ~= '' then redis.call('ZADD', index, 0, entry(published_prefix, id)) end
log_acts()
return committed('saved')
