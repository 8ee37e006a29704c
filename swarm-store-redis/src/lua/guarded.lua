guard(redis.call('HGET', takes, 'log'))
