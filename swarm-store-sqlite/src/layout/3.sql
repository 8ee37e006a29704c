-- Layout 3: an act of the log is the whole text of its entry.
ALTER TABLE log DROP COLUMN minted;
