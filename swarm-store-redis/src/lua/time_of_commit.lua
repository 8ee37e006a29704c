-- The time that a commit would have.
return time_of_commit()
