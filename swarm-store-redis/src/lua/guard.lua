-- Guards a commit, whose source follows: the log, at the position given, must continue from the position seen.
local function guard(log_at)
  set_position(log_at)
  local how = since_seen()
  if how == 'back' then error('BACK the log is not the one that was seen before') end
  if how == 'later' then error('LATER another log has begun') end
end

