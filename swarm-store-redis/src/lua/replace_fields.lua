-- Replaces values of a hash. Arguments for each: field, expected value, new value.
for first = 2, #ARGV, 3 do
  local field, before, after = ARGV[first], ARGV[first + 1], ARGV[first + 2]
  if redis.call('HGET', KEYS[2], field) == before then
    redis.call('HSET', KEYS[2], field, after)
  end
end
return ''
