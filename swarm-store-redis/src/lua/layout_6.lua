-- Migrates to layout 6: takes may be sealed, and log rows may open them. Records of layout 5 are unchanged: only sets
-- the mark, which keeps programs away that would show sealed takes.
redis.call('SET', layout, '6')
return ''
