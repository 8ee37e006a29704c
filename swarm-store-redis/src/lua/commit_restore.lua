-- Commits a restore: renames the keys that it wrote, unless the tenant has records. The keys are, after that of
-- the attempt: those of which none may exist, then each key that was written, followed by its name from now on.
local guards = tonumber(ARGV[1])

for place = 2, guards + 1 do
  if redis.call('EXISTS', KEYS[place]) == 1 then return 'occupied' end
end
for place = guards + 2, #KEYS - 3, 2 do
  if redis.call('EXISTS', KEYS[place]) == 0 then error('EXPIRED the restore took more than a day') end
end
for place = guards + 2, #KEYS - 3, 2 do
  redis.call('RENAME', KEYS[place], KEYS[place + 1])
  redis.call('PERSIST', KEYS[place + 1])
end
return committed('restored')
