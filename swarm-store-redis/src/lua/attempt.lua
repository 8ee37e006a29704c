-- Before a commit: a client library may send it twice. Its outcome is kept under the key of the
-- attempt, and a second sending gets the first answer. Outcomes that write nothing are not kept.
local attempt = KEYS[1]
local earlier = redis.call('GET', attempt)
if earlier then return earlier end

local function committed(outcome)
  redis.call('SET', attempt, outcome, 'PX', 600000)
  return outcome
end

