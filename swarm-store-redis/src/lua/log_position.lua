-- The position of the log, and how it compares with the position seen.
set_position(redis.call('HGET', takes, 'log'))
local how, last = since_seen(), redis.call('LINDEX', log, -1) or ''
return { how, tonumber(log_number), tonumber(log_size), fingerprint(last) }
