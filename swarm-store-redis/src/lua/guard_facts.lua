-- Before facts are read: the log, named by the last keys, goes on from where it was seen, which the
-- last arguments say, be it in another that has begun since.
local counters, log = table.remove(KEYS), table.remove(KEYS)
local last, size, number = table.remove(ARGV), table.remove(ARGV), table.remove(ARGV)
if since_seen(log, counters, number, size, last) == 'back' then
  error('BACK the log is not the one that was seen before')
end

