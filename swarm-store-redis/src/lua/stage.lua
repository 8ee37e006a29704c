-- Adds a piece to those that are staged for a commit, if it has the pieces before it: they may have expired, or been lost
-- by a failover. The commit compares their number. Idempotent.
local staged = KEYS[1]
local place, piece, ttl = tonumber(ARGV[1]), ARGV[2], ARGV[3]

-- Before the first write, because it fails if the user lacks the right: a piece that never expires would stay.
redis.call('PEXPIRE', staged, ttl)
if redis.call('LLEN', staged) == place then
  redis.call('RPUSH', staged, piece)
  redis.call('PEXPIRE', staged, ttl)
end
return ''
