-- Functions for all scripts: time, and the log. Redis evaluates this with each call, so it holds nothing
-- else. Ids and times are handled as text, since Lua prints numbers with 14 digits.

-- The last two keys of each script that uses the log: its rows, and the hash of the takes, which contains
-- its position.
local log, takes = KEYS[#KEYS - 1], KEYS[#KEYS]

-- The position of the log: its number, its size, and the time of its last row.
local log_number, log_size, log_time
local function set_position(at)
  log_number, log_size, log_time = string.match(at or '1 0 0', '^(%d+) (%d+) (%d+)$')
end

-- The time of the server's clock, in milliseconds since 1970.
local function time()
  local now = redis.call('TIME')
  return now[1] .. string.sub('00000' .. now[2], -6, -4)
end

-- The time of a read, and by how much the server's clock is behind it: time is never before the last row
-- of the log.
local function time_of_read()
  local now = time()
  local behind = log_time - now
  if behind > 0 then return log_time, behind end
  return now, 0
end

-- The time of a commit. Fails when the clock is too far behind, so it must not be called after the first
-- write.
local function time_of_commit()
  local now, behind = time_of_read()
  if behind > CLOCK_TOLERANCE then
    error('BEHIND the clock is too far behind the log')
  end
  return now
end

-- The fingerprint of a log row, which distinguishes it from another row of the same number: its first 128 bytes,
-- as ASCII, since they may end within a character.
local function fingerprint(row)
  return (string.gsub(string.sub(row, 1, 128), '[\128-\255]', '?'))
end

-- Compares the log with the position seen, which is in the last three arguments (number, size, fingerprint of the
-- last row). Returns 'same' if it continues from there, 'later' if another log has begun, 'back' if it lost
-- rows. Fails when the log is not a list.
local function since_seen()
  local number, size, last = ARGV[#ARGV - 2], ARGV[#ARGV - 1], ARGV[#ARGV]
  local from_end = size - log_size - 1
  local row = redis.call('LINDEX', log, from_end)
  local is_there = row and from_end < 0 and (row == last or fingerprint(row) == last)
  if size == '0' or is_there then return 'same' end
  return tonumber(log_number) > tonumber(number) and 'later' or 'back'
end

-- Appends rows to the log, and returns the new position, which the caller must write. `other_mark` is the
-- fingerprint of the last row, if it differs from the row. A commit returns the position after its last append.
local size_after, last_mark = '0', ''
local function append(rows, now, other_mark)
  size_after = string.format('%d', redis.call('RPUSH', log, unpack(rows)))
  last_mark = other_mark or rows[#rows]
  return log_number .. ' ' .. size_after .. ' ' .. now
end
