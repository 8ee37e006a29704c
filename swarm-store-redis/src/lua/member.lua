-- Reads a member and its challenge.
local members, challenges = KEYS[1], KEYS[2]
local id, challenge = ARGV[1], ARGV[2]
return { redis.call('HGET', members, id), redis.call('HGET', challenges, challenge) }
