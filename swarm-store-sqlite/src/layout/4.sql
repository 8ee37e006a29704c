-- Layout 4: the tree over the log, and its last checkpoint.
CREATE TABLE trees (
    tenant TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    log INTEGER NOT NULL,
    size INTEGER NOT NULL,
    checkpoint TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE tiles (
    tenant TEXT NOT NULL,
    log INTEGER NOT NULL,
    level INTEGER NOT NULL,
    number INTEGER NOT NULL,
    hashes BLOB NOT NULL,
    UNIQUE (tenant, log, level, number)
) STRICT;
