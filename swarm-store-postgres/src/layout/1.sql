-- Layout 1. A record is stored as text, with further columns for guards and indexes. Ids count from 1 in
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
  record text NOT NULL, -- without its snapshot, which may be long
  snapshot text,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX sessions_by_day ON swarm.sessions (tenant, date, subject, id);
CREATE INDEX sessions_by_state ON swarm.sessions (tenant, state, id);
CREATE INDEX sessions_by_publication ON swarm.sessions (tenant, published_at, id)
  WHERE published_at IS NOT NULL;

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
  signature text NOT NULL,
  payload text NOT NULL, -- the signed bytes
  PRIMARY KEY (tenant, id)
);
CREATE INDEX takes_by_session ON swarm.takes (tenant, session, id);
CREATE UNIQUE INDEX takes_by_nonce ON swarm.takes (tenant, member, nonce);
CREATE UNIQUE INDEX takes_by_revision ON swarm.takes (tenant, session, member, revision);

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

-- One row per public change: a take, a submission to the committee, or an act.
CREATE TABLE swarm.log (
  tenant text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  at bigint NOT NULL,
  take bigint,
  committee_take bigint,
  act text, -- the text of its entry
  session bigint, -- the session that the act is on
  PRIMARY KEY (tenant, seq)
);
CREATE INDEX log_by_session ON swarm.log (tenant, session, seq) WHERE session IS NOT NULL;

-- The tree over the log. It is no part of the records: whoever proves the log computes it from its rows.
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

-- The functions have the number of the layout that brought them: while servers are upgraded one by one,
-- both releases find theirs.

-- The time of the clock.
CREATE FUNCTION swarm.clock_1() RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- The fingerprint of a row of the log, which distinguishes it from another row of the same number.
CREATE FUNCTION swarm.mark_1(at bigint, take bigint, committee_take bigint, act text) RETURNS text
  LANGUAGE sql STABLE
  AS $$ SELECT concat_ws(' ', at, 'take ' || take, 'committee take ' || committee_take, left(act, 300)) $$;

-- The facts that a submission is judged by. It is stable, so everything in it reads the snapshot of its
-- caller; the clock is read after that.
CREATE FUNCTION swarm.basis_1(
  the_tenant text, seen_size bigint, the_token bytea, the_date text, the_subject text, the_nonce text
) RETURNS TABLE (
  clock bigint, last_at bigint, log bigint, seen_mark text,
  member_version bigint, member_record text,
  session_version bigint, session_record text,
  latest bigint,
  id bigint, filed_at bigint, session bigint, revision bigint, public_key text, signature text, payload text
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  the_member text;
  the_session bigint;
BEGIN
  SELECT t.log, t.last_at INTO log, last_at FROM swarm.tenants t WHERE t.tenant = the_tenant;
  log := coalesce(log, 1);
  IF seen_size > 0 THEN
    SELECT swarm.mark_1(l.at, l.take, l.committee_take, l.act) INTO seen_mark
      FROM swarm.log l WHERE l.tenant = the_tenant AND l.seq = seen_size;
  END IF;
  SELECT m.id, m.version, m.record INTO the_member, member_version, member_record
    FROM swarm.members m WHERE m.tenant = the_tenant AND m.token = the_token;
  SELECT s.id, s.version, s.record INTO the_session, session_version, session_record
    FROM swarm.sessions s WHERE s.tenant = the_tenant AND s.date = the_date AND s.subject = the_subject
    ORDER BY s.id DESC LIMIT 1;
  IF the_member IS NOT NULL THEN
    SELECT max(t.revision) INTO latest FROM swarm.takes t
      WHERE t.tenant = the_tenant AND t.session = the_session AND t.member = the_member;
    SELECT t.id, t.filed_at, t.session, t.revision, t.public_key, t.signature, t.payload
      INTO id, filed_at, session, revision, public_key, signature, payload
      FROM swarm.takes t
      WHERE t.tenant = the_tenant AND t.member = the_member AND t.nonce = the_nonce;
  END IF;
  clock := swarm.clock_1();
  RETURN NEXT;
END $$;

-- Files takes in the order given, each if its guards hold, checked in the order of the port. The statement
-- that locks the tenant comes first: those after it see every commit that it waited for.
--
-- Returns a row per take: its outcome, and for `filed` its id and time, for `again` the take that this
-- attempt filed before. The last row has the outcome `log`: the number of the log, of its last row, and the
-- fingerprint of that row. If the log does not continue from the position seen, that row is the only one,
-- has the outcome `other log`, and the fingerprint of the row with the number `seen_size`.
CREATE FUNCTION swarm.file_1(
  the_tenant text, seen_log bigint, seen_size bigint, seen_last text, tolerance bigint,
  the_members text[], member_versions bigint[], the_sessions bigint[], session_versions bigint[],
  the_dates text[], the_subjects text[], deadlines bigint[], the_nonces text[], attempts bytea[],
  revisions bigint[], public_keys text[], signatures text[], payloads text[]
) RETURNS TABLE (
  outcome text,
  id bigint, filed_at bigint, session bigint, revision bigint, public_key text, signature text, payload text
) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  world swarm.tenants;
  spent swarm.takes;
  is_current boolean;
  clock bigint;
  now bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the isolation level must be read committed' USING ERRCODE = 'SW001';
  END IF;
  SELECT * INTO world FROM swarm.tenants WHERE tenant = the_tenant FOR NO KEY UPDATE;
  world.log := coalesce(world.log, 1);
  world.seq := coalesce(world.seq, 0);
  IF seen_size > 0 THEN
    SELECT swarm.mark_1(l.at, l.take, l.committee_take, l.act) INTO payload
      FROM swarm.log l WHERE l.tenant = the_tenant AND l.seq = seen_size;
    IF world.log <> seen_log OR payload IS DISTINCT FROM seen_last THEN
      outcome := 'other log';
      id := world.log;
      filed_at := world.seq;
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;

  FOR i IN 1 .. cardinality(the_members) LOOP
    SELECT * INTO spent FROM swarm.takes
      WHERE tenant = the_tenant AND member = the_members[i] AND nonce = the_nonces[i];
    IF spent.attempt = attempts[i] THEN
      outcome := 'again';
      id := spent.id;
      filed_at := spent.filed_at;
      session := spent.session;
      revision := spent.revision;
      public_key := spent.public_key;
      signature := spent.signature;
      payload := spent.payload;
      RETURN NEXT;
      CONTINUE;
    END IF;
    id := NULL;
    filed_at := NULL;
    is_current :=
      (SELECT version FROM swarm.members WHERE tenant = the_tenant AND id = the_members[i])
        = member_versions[i]
      AND (SELECT version FROM swarm.sessions WHERE tenant = the_tenant AND id = the_sessions[i])
        = session_versions[i]
      AND (SELECT max(id) FROM swarm.sessions
           WHERE tenant = the_tenant AND date = the_dates[i] AND subject = the_subjects[i])
        = the_sessions[i];
    IF is_current IS NOT TRUE THEN
      outcome := 'stale';
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF clock IS NULL THEN
      clock := swarm.clock_1();
      now := greatest(clock, world.last_at);
    END IF;
    IF now - clock > tolerance THEN
      outcome := 'clock behind';
    ELSIF now > deadlines[i] THEN
      outcome := 'late';
    ELSIF spent.id IS NOT NULL THEN
      outcome := 'nonce used';
    ELSIF coalesce((SELECT max(revision) FROM swarm.takes
           WHERE tenant = the_tenant AND session = the_sessions[i] AND member = the_members[i]), 0)
        <> revisions[i] - 1 THEN
      outcome := 'revision taken';
    ELSE
      outcome := 'filed';
      world.takes := world.takes + 1;
      world.seq := world.seq + 1;
      world.last_at := now;
      id := world.takes;
      filed_at := now;
      INSERT INTO swarm.takes (tenant, id, session, member, revision, nonce, attempt, filed_at,
          public_key, signature, payload)
        VALUES (the_tenant, id, the_sessions[i], the_members[i], revisions[i], the_nonces[i],
          attempts[i], now, public_keys[i], signatures[i], payloads[i]);
      INSERT INTO swarm.log (tenant, seq, at, take) VALUES (the_tenant, world.seq, now, id);
    END IF;
    RETURN NEXT;
  END LOOP;

  UPDATE swarm.tenants
    SET takes = world.takes, seq = world.seq, last_at = world.last_at, commits = commits + 1
    WHERE tenant = the_tenant AND takes <> world.takes;
  outcome := 'log';
  id := world.log;
  filed_at := world.seq;
  SELECT swarm.mark_1(l.at, l.take, l.committee_take, l.act) INTO payload
    FROM swarm.log l WHERE l.tenant = the_tenant AND l.seq = world.seq;
  RETURN NEXT;
END $$;
