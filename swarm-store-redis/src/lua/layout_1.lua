-- Layout 1: what was written before layouts had numbers is as it should be, and is only marked.
redis.call('SET', layout, '1')
return ''
