-- Keeps the copies of a dump; returns whether they are still there. The last key is the marker.
if redis.call('EXISTS', KEYS[#KEYS]) == 0 then return 0 end
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ARGV[1])
end
return 1
