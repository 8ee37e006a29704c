-- Before a commit, whose text follows: the log, which stands there, goes on from where it was seen.
local function guard(log_at)
  log_stands(log_at)
  local how = since_seen()
  if how == 'back' then error('BACK the log is not the one that was seen before') end
  if how == 'later' then error('LATER another log has begun') end
end

