-- Reads a row through an index: a member by its token, a document by its key.
local index, rows = KEYS[1], KEYS[2]
local id = redis.call('HGET', index, ARGV[1])
return id and redis.call('HGET', rows, id)
