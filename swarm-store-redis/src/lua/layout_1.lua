-- Layout 1: what was written before layouts had numbers is as it should be, and is only marked.
local layout = KEYS[1]
redis.call('SETNX', layout, '1')
return true
