-- The tables that every layout has beside the declared ones, which `sql.rs` generates. Times are milliseconds since 1970. Texts
-- compare by their bytes. U+0000 and U+0001 are kept as U+0001 and one more character, because PostgreSQL keeps no U+0000.

CREATE TABLE swarm.layout (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), -- the only row
  number integer NOT NULL -- the number of the layout
);

-- The end of the log of each tenant. Every commit locks its row first, so the commits of a tenant happen one after another.
CREATE TABLE swarm.tenants (
  tenant text COLLATE "C" PRIMARY KEY,
  log bigint NOT NULL DEFAULT 1, -- the number of the log
  seq bigint NOT NULL DEFAULT 0, -- the number of the last entry
  last_at bigint, -- its time
  last_commit bytea, -- its commit
  commits bigint NOT NULL DEFAULT 0 -- the number of commits, for the change feed
) WITH (fillfactor = 50);

-- The last number of each sequence, or its sum. Unlike a sequence of PostgreSQL, it has no gaps.
CREATE TABLE swarm.sequences (
  tenant text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (tenant, name)
) WITH (fillfactor = 50);

-- What commits assigned, for some minutes: one that is sent again gets the outcome of the first. Commits that a record of theirs
-- identifies are not here.
CREATE TABLE swarm.attempts (
  tenant text COLLATE "C" NOT NULL,
  attempt bytea NOT NULL,
  made_at bigint NOT NULL, -- by the clock
  at bigint NOT NULL, -- the time of the commit
  numbers bigint[] NOT NULL,
  PRIMARY KEY (tenant, attempt)
);
CREATE INDEX attempts_by_time ON swarm.attempts (tenant, made_at);
