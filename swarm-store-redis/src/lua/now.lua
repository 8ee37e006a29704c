-- The time of a read.
set_position(redis.call('HGET', takes, 'log'))
return (time_of_read())
