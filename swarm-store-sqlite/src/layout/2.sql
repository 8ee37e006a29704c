-- Which log of a tenant is being written. The first, where there is no row: another one begins
-- whenever an operator accepts a file that went back.
CREATE TABLE logs (
  tenant TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
