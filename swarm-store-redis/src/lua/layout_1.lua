-- Migrates to layout 1. Records from before layouts had numbers are in layout 1 already: only sets the mark.
redis.call('SET', layout, '1')
return ''
