-- The time.
return (time_of_read(KEYS[1]))
