-- Replaces rows of the log. Arguments for each: index, expected row, new row.
for first = 2, #ARGV, 3 do
  local place, before, after = ARGV[first], ARGV[first + 1], ARGV[first + 2]
  if redis.call('LINDEX', KEYS[2], place) == before then
    redis.call('LSET', KEYS[2], place, after)
  end
end
return ''
