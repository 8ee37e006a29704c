-- Replaces values of a hash: of each its field, its text, and the text that takes its place.
for first = 2, #ARGV, 3 do
  local field, before, after = ARGV[first], ARGV[first + 1], ARGV[first + 2]
  if redis.call('HGET', KEYS[2], field) == before then
    redis.call('HSET', KEYS[2], field, after)
  end
end
return ''
