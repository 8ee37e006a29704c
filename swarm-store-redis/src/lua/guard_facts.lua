-- Before facts are read: the log goes on from where it was seen, be it in another that has begun since.
log_stands(redis.call('HGET', takes, 'log'))
if since_seen() == 'back' then error('BACK the log is not the one that was seen before') end

