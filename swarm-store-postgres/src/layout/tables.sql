-- Layout 1: its tables. A record is stored as text, with further columns for guards and indexes. Ids count from 1 in
-- each tenant, versions from 1 in each record. Times are milliseconds since 1970. Texts compare by their
-- bytes.

-- One row per tenant. Every commit locks it first, so the commits of a tenant happen one after another.
-- Its counters assign ids and the numbers of the log: unlike a sequence, they have no gaps.
CREATE TABLE swarm.tenants (
  tenant text COLLATE "C" PRIMARY KEY,
  log bigint NOT NULL DEFAULT 1, -- the number of the current log
  seq bigint NOT NULL DEFAULT 0, -- the number of the last row of the log
  last_at bigint, -- the time of that row
  takes bigint NOT NULL DEFAULT 0, -- the last ids
  sessions bigint NOT NULL DEFAULT 0,
  messages bigint NOT NULL DEFAULT 0,
  committee_takes bigint NOT NULL DEFAULT 0,
  documents jsonb NOT NULL DEFAULT '{}', -- the last id of each collection
  document_bytes bigint NOT NULL DEFAULT 0, -- the size of the documents in all collections whose size is limited
  commits bigint NOT NULL DEFAULT 0 -- the number of commits, for the change feed
) WITH (fillfactor = 50);

CREATE TABLE swarm.members (
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  token bytea, -- the hash of its bearer token
  held_key bytea, -- the public key that no other member may hold
  record text NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX members_by_state ON swarm.members (tenant, state, id);
CREATE INDEX members_by_token ON swarm.members (tenant, token) WHERE token IS NOT NULL;
CREATE UNIQUE INDEX members_by_held_key ON swarm.members (tenant, held_key) WHERE held_key IS NOT NULL;

CREATE TABLE swarm.challenges (
  tenant text COLLATE "C" NOT NULL,
  member text COLLATE "C" NOT NULL, -- empty for the decoy
  seed bytea NOT NULL,
  reusable_until bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (tenant, member)
);

-- The challenge that was handed out last in each bucket: at most 65,536 per tenant.
CREATE TABLE swarm.reusable_challenges (
  tenant text COLLATE "C" NOT NULL,
  bucket bigint NOT NULL,
  seed bytea NOT NULL,
  reusable_until bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (tenant, bucket)
);

CREATE TABLE swarm.messages (
  tenant text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  version bigint NOT NULL,
  state text COLLATE "C" NOT NULL,
  record text NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX messages_by_state ON swarm.messages (tenant, state, id);

CREATE TABLE swarm.sessions (
  tenant text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  version bigint NOT NULL,
  date text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  published_at bigint,
  record text NOT NULL, -- without its snapshot
  held_until bigint, -- until then its takes are held back, because it is being aggregated
  PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_by_day ON swarm.sessions (tenant, date, subject, id);
CREATE INDEX sessions_by_state ON swarm.sessions (tenant, state, id);
CREATE INDEX sessions_by_subject ON swarm.sessions (tenant, subject, id);
CREATE INDEX sessions_by_publication ON swarm.sessions (tenant, published_at, id)
  WHERE published_at IS NOT NULL;

-- The snapshots of sessions. One may have megabytes, so it is written before its commit locks the tenant; the commit only
-- shows it. Until then it is staged, and no read finds it. A session has at most one that is not staged.
CREATE TABLE swarm.snapshots (
  tenant text COLLATE "C" NOT NULL,
  session bigint NOT NULL,
  attempt bytea NOT NULL, -- distinguishes those that several servers stage for a session
  staged_at bigint, -- by the clock; null once it is shown
  record text NOT NULL,
  PRIMARY KEY (tenant, session, attempt)
);
-- To compress it takes longer than to write it.
ALTER TABLE swarm.snapshots ALTER COLUMN record SET STORAGE EXTERNAL;
CREATE INDEX snapshots_by_time ON swarm.snapshots (tenant, staged_at) WHERE staged_at IS NOT NULL;

-- Takes are never changed or deleted, so a nonce stays spent.
CREATE TABLE swarm.takes (
  tenant text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  session bigint NOT NULL,
  member text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  nonce text COLLATE "C" NOT NULL,
  attempt bytea NOT NULL,
  filed_at bigint NOT NULL,
  public_key text NOT NULL,
  signature text NOT NULL, -- that of a sealed take is followed by a dot and the salt of its seal
  payload text NOT NULL, -- the signed bytes
  PRIMARY KEY (tenant, id)
);
CREATE INDEX takes_by_session ON swarm.takes (tenant, session, id);
CREATE UNIQUE INDEX takes_by_nonce ON swarm.takes (tenant, member, nonce);
CREATE UNIQUE INDEX takes_by_revision ON swarm.takes (tenant, member, session, revision);

CREATE TABLE swarm.documents (
  tenant text COLLATE "C" NOT NULL,
  collection text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  name text COLLATE "C" NOT NULL, -- its key
  family text COLLATE "C" NOT NULL, -- its group
  created_at bigint NOT NULL,
  record text NOT NULL,
  PRIMARY KEY (tenant, collection, id)
);
CREATE UNIQUE INDEX documents_by_name ON swarm.documents (tenant, collection, name);
CREATE INDEX documents_by_family ON swarm.documents (tenant, collection, family, id);

CREATE TABLE swarm.committee_members (
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  api_key bytea NOT NULL, -- its hash
  record text NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX committee_members_by_api_key ON swarm.committee_members (tenant, api_key);

CREATE TABLE swarm.committee_days (
  tenant text COLLATE "C" NOT NULL,
  date text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  about text COLLATE "C", -- the subject of its briefs, once they are generated
  record text NOT NULL,
  PRIMARY KEY (tenant, date)
);
CREATE INDEX committee_days_by_subject ON swarm.committee_days (tenant, about, date)
  WHERE about IS NOT NULL;

CREATE TABLE swarm.committee_briefs (
  tenant text COLLATE "C" NOT NULL,
  date text COLLATE "C" NOT NULL,
  member text COLLATE "C" NOT NULL,
  record text NOT NULL,
  PRIMARY KEY (tenant, date, member)
);

CREATE TABLE swarm.committee_takes (
  tenant text COLLATE "C" NOT NULL,
  id bigint NOT NULL,
  date text COLLATE "C" NOT NULL,
  member text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  attempt bytea NOT NULL,
  record text NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX committee_takes_by_day ON swarm.committee_takes (tenant, date, id);
CREATE INDEX committee_takes_by_member ON swarm.committee_takes (tenant, member, date, subject, id);
CREATE UNIQUE INDEX committee_takes_by_attempt ON swarm.committee_takes (tenant, member, date, attempt);

-- One row per public change: a take, a submission to the committee, or an act. A row with a take and the act `opening` opens
-- up to sixteen takes, the last of which it names. Each of them has an entry: the last one with the number of the row, those
-- before it with the numbers before. A row for each would hold the lock of the tenant for long.
CREATE TABLE swarm.log (
  tenant text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  take bigint,
  committee_take bigint,
  act text, -- the text of its entry
  session bigint, -- the session that the act is on
  opened bigint[], -- the takes that it opens, by id
  PRIMARY KEY (tenant, seq)
);
CREATE INDEX log_by_session ON swarm.log (tenant, session, seq) WHERE session IS NOT NULL;

-- The tree over the log. It is derived from the rows of the log.
CREATE TABLE swarm.trees (
  tenant text COLLATE "C" PRIMARY KEY,
  version bigint NOT NULL,
  log bigint NOT NULL,
  size bigint NOT NULL,
  checkpoint text
);
CREATE TABLE swarm.tiles (
  tenant text COLLATE "C" NOT NULL,
  log bigint NOT NULL,
  level bigint NOT NULL,
  number bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (tenant, log, level, number)
);

-- The outcomes of commits, for some minutes: one that is sent again gets the outcome of the first. Takes are recognized by
-- their own attempts.
CREATE TABLE swarm.attempts (
  tenant text COLLATE "C" NOT NULL,
  attempt bytea NOT NULL,
  made_at bigint NOT NULL, -- by the clock
  outcome text NOT NULL,
  id bigint,
  at bigint,
  detail text,
  PRIMARY KEY (tenant, attempt)
);
CREATE INDEX attempts_by_time ON swarm.attempts (tenant, made_at);
