-- Guards a read of facts: the log must continue from the position seen, or another log must have begun since.
set_position(redis.call('HGET', takes, 'log'))
if since_seen() == 'back' then error('BACK the log is not the one that was seen before') end

