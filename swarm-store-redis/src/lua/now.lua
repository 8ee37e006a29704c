-- The time.
log_stands(redis.call('HGET', takes, 'log'))
return (time_of_read())
