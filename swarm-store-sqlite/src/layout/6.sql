-- Layout 6: what lists show of a session, before the record, so that they do not read it: rosters and snapshots
-- may be long, and SQLite reads a row from its beginning.
CREATE TABLE sessions_6 (
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
INSERT INTO sessions_6 (tenant, id, version, date, subject, state, published_at, summary, record)
  SELECT tenant, id, version, date, subject, state, published_at,
    json_remove(
      json_set(record, '$.hasRoster', json(iif(json_type(record, '$.roster') = 'array', 'true', 'false'))),
      '$.buckets', '$.roster', '$.snapshot.weights', '$.snapshot.quotes'
    ),
    record
  FROM sessions;
DROP TABLE sessions;
ALTER TABLE sessions_6 RENAME TO sessions;
CREATE INDEX sessions_by_day ON sessions (tenant, date, subject, id);
CREATE INDEX sessions_by_state ON sessions (tenant, state, id);
CREATE INDEX sessions_by_publication ON sessions (tenant, published_at, id)
  WHERE published_at IS NOT NULL;
