-- What all scripts share: the time, and the log. Redis defines the functions anew with each call, so
-- there are no others here. Ids and times stay text: Lua's numbers print with 14 digits.

-- The rows of the log, and the hash of the takes, which says where it stands: the last keys of each
-- script that is told of the log.
local log, takes = KEYS[#KEYS - 1], KEYS[#KEYS]

-- Where it stands: its number, its size, and the time of its last row.
local log_number, log_size, log_time
local function log_stands(at)
  log_number, log_size, log_time = string.match(at or '1 0 0', '^(%d+) (%d+) (%d+)$')
end

-- The time by this server's clock, in milliseconds since 1970.
local function time()
  local now = redis.call('TIME')
  return now[1] .. string.sub('00000' .. now[2], -6, -4)
end

-- The time of a read, and by how much this server's clock is behind it: time never runs back behind
-- the last row of the log.
local function time_of_read()
  local now = time()
  local behind = log_time - now
  if behind > 0 then return log_time, behind end
  return now, 0
end

-- The time of a commit. Where the clock is too far behind, it ends the script: never called after
-- the first write.
local function time_of_commit()
  local now, behind = time_of_read()
  if behind > CLOCK_TOLERANCE then
    error('BEHIND the clock is too far behind the log')
  end
  return now
end

-- What tells a row of the log from others that could have its number, in ASCII: its beginning may end
-- amid a character.
local function mark(row)
  return (string.gsub(string.sub(row, 1, 128), '[\128-\255]', '?'))
end

-- How the log goes on from where it was seen, which the last arguments say, its number, its size, and
-- the mark of its last row: 'same', 'later' when another one has begun, or 'back'. Ends the script
-- where the log is no list.
local function since_seen()
  local number, size, last = ARGV[#ARGV - 2], ARGV[#ARGV - 1], ARGV[#ARGV]
  local from_end = size - log_size - 1
  local row = redis.call('LINDEX', log, from_end)
  local is_there = row and from_end < 0 and (row == last or mark(row) == last)
  if size == '0' or is_there then return 'same' end
  return tonumber(log_number) > tonumber(number) and 'later' or 'back'
end

-- Appends rows to the log, the mark of whose last one is given where it is another text, and returns where
-- the log then stands, which the caller writes. What a commit appends last is told with its outcome.
local size_after, last_mark = '0', ''
local function append(rows, now, other_mark)
  size_after = string.format('%d', redis.call('RPUSH', log, unpack(rows)))
  last_mark = other_mark or rows[#rows]
  return log_number .. ' ' .. size_after .. ' ' .. now
end
