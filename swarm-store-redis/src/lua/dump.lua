-- Copies the hashes and indexes that change, so that a dump reads them as they are now. Takes, submissions
-- and the log only grow: their last ids are returned. Idempotent. The keys are those to copy, their copies,
-- the marker and the counters; the copies expire unless they are kept.
local ttl, copies = ARGV[1], (#KEYS - 4) / 2
local marker, counters = KEYS[2 * copies + 1], KEYS[2 * copies + 2]

for place = 1, copies do
  local copy = KEYS[copies + place]
  redis.call('COPY', KEYS[place], copy, 'REPLACE')
  redis.call('PEXPIRE', copy, ttl)
end
redis.call('SET', marker, '', 'PX', ttl)
return { redis.call('LLEN', log), redis.call('HGETALL', counters) }
