-- The number of a tenant's current log; 1 if there is no row. Another log begins when an operator accepts
-- a file that went back.
CREATE TABLE logs (
  tenant TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
