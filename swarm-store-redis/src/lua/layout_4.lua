-- Layout 4: an act of the log is its time and the whole text of its entry.
redis.call('SET', layout, '4')
return ''
