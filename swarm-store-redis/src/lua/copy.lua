-- Copies keys, which a dump reads as they are now, and sets a marker. Idempotent. The keys are those to copy, their copies
-- and the marker; the copies expire unless they are kept.
local ttl, copies = ARGV[1], (#KEYS - 1) / 2

for place = 1, copies do
  local copy = KEYS[copies + place]
  redis.call('COPY', KEYS[place], copy, 'REPLACE')
  redis.call('PEXPIRE', copy, ttl)
end
redis.call('SET', KEYS[#KEYS], '', 'PX', ttl)
return ''
