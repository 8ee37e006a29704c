-- The time that a commit would get; fails as a commit would.
return time_of_commit()
