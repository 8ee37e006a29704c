-- The schema, layout 1. A record is stored as text, with further columns for guards and indexes. Ids count from 1 in
-- each tenant, versions from 1 in each record.

CREATE TABLE members (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  token BLOB, -- the hash of its bearer token
  held_key BLOB, -- the public key that no other member may hold
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX members_by_state ON members (tenant, state, id);
CREATE INDEX members_by_token ON members (tenant, token) WHERE token IS NOT NULL;
CREATE UNIQUE INDEX members_by_held_key ON members (tenant, held_key) WHERE held_key IS NOT NULL;

CREATE TABLE challenges (
  tenant TEXT NOT NULL,
  member TEXT NOT NULL, -- empty for the decoy
  seed BLOB NOT NULL,
  stands_until INTEGER NOT NULL, -- milliseconds since 1970
  expires_at INTEGER NOT NULL, -- milliseconds since 1970
  PRIMARY KEY (tenant, member)
) STRICT, WITHOUT ROWID;

-- The challenge that was handed out last in each bucket: at most 65,536 per tenant.
CREATE TABLE standing_challenges (
  tenant TEXT NOT NULL,
  stand INTEGER NOT NULL,
  seed BLOB NOT NULL,
  stands_until INTEGER NOT NULL, -- milliseconds since 1970
  expires_at INTEGER NOT NULL, -- milliseconds since 1970
  PRIMARY KEY (tenant, stand)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
  tenant TEXT NOT NULL,
  id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX messages_by_state ON messages (tenant, state, id);

-- What lists show of a session is a column before the record, so that they do not read it: rosters and snapshots may be
-- long, and SQLite reads a row from its beginning.
CREATE TABLE sessions (
  tenant TEXT NOT NULL,
  id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  date TEXT NOT NULL,
  subject TEXT NOT NULL,
  state TEXT NOT NULL,
  published_at INTEGER, -- milliseconds since 1970
  summary TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX sessions_by_day ON sessions (tenant, date, subject, id);
CREATE INDEX sessions_by_state ON sessions (tenant, state, id);
CREATE INDEX sessions_by_publication ON sessions (tenant, published_at, id)
  WHERE published_at IS NOT NULL;
CREATE INDEX sessions_by_subject ON sessions (tenant, subject, id);

-- Takes are never changed or deleted, so a nonce stays spent.
CREATE TABLE takes (
  tenant TEXT NOT NULL,
  id INTEGER NOT NULL,
  session INTEGER NOT NULL,
  member TEXT NOT NULL,
  revision INTEGER NOT NULL,
  nonce TEXT NOT NULL,
  attempt BLOB NOT NULL,
  filed_at INTEGER NOT NULL, -- milliseconds since 1970
  public_key TEXT NOT NULL,
  signature TEXT NOT NULL, -- of a sealed take, a dot and the salt of its seal follow
  payload TEXT NOT NULL, -- the signed bytes
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX takes_by_session ON takes (tenant, session, id);
CREATE UNIQUE INDEX takes_by_nonce ON takes (tenant, member, nonce);
CREATE UNIQUE INDEX takes_by_revision ON takes (tenant, member, session, revision);

CREATE TABLE documents (
  tenant TEXT NOT NULL,
  collection TEXT NOT NULL,
  id INTEGER NOT NULL,
  name TEXT NOT NULL, -- its key
  family TEXT NOT NULL, -- its group
  created_at INTEGER NOT NULL, -- milliseconds since 1970
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, collection, id)
) STRICT;
CREATE UNIQUE INDEX documents_by_name ON documents (tenant, collection, name);
CREATE INDEX documents_by_family ON documents (tenant, collection, family, id);

-- The size of the documents of a tenant, in all collections whose size is limited.
CREATE TABLE document_bytes (
  tenant TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL -- of their records
) STRICT, WITHOUT ROWID;

CREATE TABLE committee_members (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  api_key BLOB NOT NULL, -- its hash
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX committee_members_by_api_key ON committee_members (tenant, api_key);

CREATE TABLE committee_days (
  tenant TEXT NOT NULL,
  date TEXT NOT NULL,
  version INTEGER NOT NULL,
  about TEXT, -- the subject of its briefs, once they are generated
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, date)
) STRICT;
CREATE INDEX committee_days_by_subject ON committee_days (tenant, about, date)
  WHERE about IS NOT NULL;

CREATE TABLE committee_briefs (
  tenant TEXT NOT NULL,
  date TEXT NOT NULL,
  member TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, date, member)
) STRICT;

CREATE TABLE committee_takes (
  tenant TEXT NOT NULL,
  id INTEGER NOT NULL,
  date TEXT NOT NULL,
  member TEXT NOT NULL,
  subject TEXT NOT NULL,
  attempt BLOB NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE INDEX committee_takes_by_day ON committee_takes (tenant, date, id);
CREATE INDEX committee_takes_by_member ON committee_takes (tenant, member, date, subject, id);
CREATE UNIQUE INDEX committee_takes_by_attempt ON committee_takes (tenant, member, date, attempt);

-- One row per entry: a take, a submission to the committee, an act, or the opening of a sealed take. A row that opens a
-- take has it in `take`, and 'opening' in `act`.
CREATE TABLE log (
  tenant TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL, -- milliseconds since 1970
  take INTEGER,
  committee_take INTEGER,
  act TEXT, -- the text of the entry
  session INTEGER, -- the session that the act is on
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX log_by_session ON log (tenant, session, seq) WHERE session IS NOT NULL;

-- The number of a tenant's current log; 1 if there is no row. Another log begins when an operator accepts
-- a file that went back.
CREATE TABLE logs (
  tenant TEXT NOT NULL PRIMARY KEY,
  number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The tree over the log, and its last checkpoint.
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
