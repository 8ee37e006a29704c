-- Before a migration to the next layout: another process may have made it meanwhile.
local layout, from = KEYS[1], ARGV[1]
if (redis.call('GET', layout) or '0') ~= from then return '' end

