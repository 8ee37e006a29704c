-- Commits what was loaded: renames its keys, unless the tenant has records. The keys are that of the attempt, which makes the
-- call idempotent; the marker, which expires before the others; that of the records of the tenant; then each key that may have been
-- written, followed by its name from now on.
local attempt, marker, records = KEYS[1], KEYS[2], KEYS[3]
local earlier = redis.call('GET', attempt)
if earlier then return earlier end

if redis.call('EXISTS', records) == 1 then return 'occupied' end
if redis.call('EXISTS', marker) == 0 then error('EXPIRED the restore took more than a day') end
for place = 4, #KEYS, 2 do
  if redis.call('EXISTS', KEYS[place]) == 1 then
    redis.call('RENAME', KEYS[place], KEYS[place + 1])
    redis.call('PERSIST', KEYS[place + 1])
  end
end
redis.call('SET', attempt, 'loaded', 'PX', 600000)
return 'loaded'
