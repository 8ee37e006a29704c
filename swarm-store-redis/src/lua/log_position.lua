-- Where the log stands, and how it goes on from where it was seen.
log_stands(redis.call('HGET', takes, 'log'))
local how, last = since_seen(), redis.call('LINDEX', log, -1) or ''
return { how, tonumber(log_number), tonumber(log_size), mark(last) }
