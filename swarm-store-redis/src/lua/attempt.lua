-- Makes a commit idempotent, since a client library may send it twice. Its outcome is stored under the
-- key of the attempt, and a resent call gets it. Outcomes that write nothing are not stored.
local attempt = KEYS[1]
local earlier = redis.call('GET', attempt)
if earlier then return earlier end

local function committed(outcome)
  redis.call('SET', attempt, outcome, 'PX', 600000)
  return outcome
end

