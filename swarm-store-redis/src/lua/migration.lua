-- Precedes a migration: returns at once if another process has made it meanwhile.
local layout, from = KEYS[1], ARGV[1]
if (redis.call('GET', layout) or '0') ~= from then return '' end

