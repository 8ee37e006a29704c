-- Migrates to layout 8: the rest of a session's row is in a key of its own if its snapshot is long. Whole rows of any
-- length remain valid: this only sets the mark, which keeps programs away that would read cut rows.
redis.call('SET', layout, '8')
return ''
