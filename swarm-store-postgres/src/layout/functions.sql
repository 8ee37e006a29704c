-- Layout 1: its functions. They have the number of the layout in their names, so that no program calls a function of
-- another layout.
--
-- Their plans are made once in each connection, maybe for tables that are still empty, where all indexes seem to be as
-- good. So a statement that many takes depend on orders its rows in the way of one index: each of the others would read
-- more rows with each take of the member.

-- The time of the clock.
CREATE FUNCTION swarm.clock_1() RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- The fingerprint of a row of the log, which distinguishes it from another row of the same number; null if there is none.
CREATE FUNCTION swarm.fingerprint_1(the_tenant text, the_seq bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT concat_ws(' ', at, 'take ' || take, 'committee take ' || committee_take, left(act, 300))
    FROM swarm.log WHERE tenant = the_tenant AND seq = the_seq);
END $$;

-- The snapshot of a session; null if it has none.
CREATE FUNCTION swarm.snapshot_1(the_tenant text, the_session bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT record FROM swarm.snapshots
    WHERE tenant = the_tenant AND session = the_session AND staged_at IS NULL);
END $$;

-- The facts that a submission is judged by. It is stable, so everything in it reads the snapshot of its
-- caller; the clock is read after that.
CREATE FUNCTION swarm.basis_1(
  the_tenant text, seen_size bigint, the_token bytea, the_date text, the_subject text, the_nonce text
) RETURNS TABLE (
  clock bigint, last_at bigint, log bigint, seen_fingerprint text,
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
  seen_fingerprint := swarm.fingerprint_1(the_tenant, seen_size);
  SELECT m.id, m.version, m.record INTO the_member, member_version, member_record
    FROM swarm.members m WHERE m.tenant = the_tenant AND m.token = the_token;
  SELECT s.id, s.version, s.record INTO the_session, session_version, session_record
    FROM swarm.sessions s WHERE s.tenant = the_tenant AND s.date = the_date AND s.subject = the_subject
    ORDER BY s.id DESC LIMIT 1;
  IF the_member IS NOT NULL THEN
    SELECT t.revision INTO latest FROM swarm.takes t
      WHERE t.tenant = the_tenant AND t.session = the_session AND t.member = the_member
      ORDER BY t.revision DESC LIMIT 1;
    SELECT t.id, t.filed_at, t.session, t.revision, t.public_key, t.signature, t.payload
      INTO id, filed_at, session, revision, public_key, signature, payload
      FROM swarm.takes t
      WHERE t.tenant = the_tenant AND t.member = the_member AND t.nonce BETWEEN the_nonce AND the_nonce
      ORDER BY t.nonce LIMIT 1;
  END IF;
  clock := swarm.clock_1();
  RETURN NEXT;
END $$;

-- A time as records have it.
CREATE FUNCTION swarm.time_1(millis bigint) RETURNS text LANGUAGE sql IMMUTABLE
  AS $$ SELECT to_char(timestamp 'epoch' + millis * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- A text, with the id and the time of its commit in their places: U+0001 and `i` or `t`. In texts that are stored,
-- another character follows U+0001.
CREATE FUNCTION swarm.complete_1(record text, id bigint, at bigint) RETURNS text LANGUAGE sql IMMUTABLE
  AS $$ SELECT replace(replace(record, E'\u0001i', id::text), E'\u0001t', swarm.time_1(at)) $$;

-- A row of the log that opens takes: its number, counted from the row before the first of them; the last take; all of them.
CREATE TYPE swarm.opening_1 AS (seq bigint, take bigint, opened bigint[]);

-- The rows that open the takes of a session, in order; null if it has none. A range of one, in the order of an index, makes
-- the planner use that index also before the table is analysed; so with nonces.
CREATE FUNCTION swarm.openings_1(the_tenant text, the_session bigint) RETURNS swarm.opening_1[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT array_agg(ROW(seq, take, opened)::swarm.opening_1 ORDER BY seq)
    FROM (SELECT max(n) AS seq, max(id) AS take, array_agg(id ORDER BY id) AS opened
          FROM (SELECT id, row_number() OVER (ORDER BY session, id) AS n FROM swarm.takes
                WHERE tenant = the_tenant AND session BETWEEN the_session AND the_session) AS numbered
          GROUP BY (n - 1) / 16) AS rows);
END $$;

-- Makes a commit. The statement that locks the tenant comes before all that others may change: those after it see every
-- commit that it waited for. Takes are never changed or deleted, so those that are opened are read before, which takes long.
--
-- `change` is one statement that checks the guards, and writes if they hold. Its parameters are the tenant, the time of
-- the commit, and `args`. It returns an outcome, the id that it assigned, and further details. Only after the outcome
-- `saved` the log is appended to, and the commit is announced. After `kept` it is neither. After both, a call with the same
-- attempt gets the same outcome.
--
-- `mode` is `usual`, or:
--   `filing`: the time is null if the clock is behind the log, and `change` decides; a row of the log refers to the
--     submission to the committee that it filed;
--   `accept clock`: the time is that of the clock, even if it is behind;
--   `accept store`: another log begins; the clock is not checked;
--   `unchecked`: the clock is not checked.
--
-- The entries are completed with the id and the time; in place of U+0001 and `d`, they get the digest of `digested`.
-- An entry on the session 0 is on the one that this commit convened. `opens` is a session whose takes are opened.
--
-- Returns one row. Its outcome is that of `change`, or: `other layout`, with its number as id; `other log`, with the
-- fingerprint of the row with the number `seen_size`; `clock behind`. Nothing is written then.
CREATE FUNCTION swarm.commit_1(
  the_tenant text, known_layout bigint, patience bigint, seen_log bigint, seen_size bigint, seen_last text,
  tolerance bigint, the_attempt bytea, mode text, change text, args jsonb,
  entries text[], entry_sessions bigint[], digested text, opens bigint
) RETURNS TABLE (outcome text, id bigint, at bigint, detail text, log bigint, size bigint, fingerprint text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  world swarm.tenants;
  clock bigint;
  openings swarm.opening_1[];
  last_opened swarm.opening_1;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the isolation level must be read committed' USING ERRCODE = 'SW001';
  END IF;
  PERFORM set_config('lock_timeout', patience::text, true);
  IF opens IS NOT NULL THEN
    openings := swarm.openings_1(the_tenant, opens);
    last_opened := openings[cardinality(openings)];
  END IF;
  LOOP
    SELECT * INTO world FROM swarm.tenants WHERE tenant = the_tenant FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO swarm.tenants (tenant) VALUES (the_tenant) ON CONFLICT DO NOTHING;
  END LOOP;
  log := world.log;
  size := world.seq;
  SELECT number INTO id FROM swarm.layout;
  IF id <> known_layout THEN
    outcome := 'other layout';
    RETURN NEXT;
    RETURN;
  END IF;
  IF seen_size > 0 THEN
    fingerprint := swarm.fingerprint_1(the_tenant, seen_size);
    IF world.log <> seen_log OR fingerprint IS DISTINCT FROM seen_last THEN
      outcome := 'other log';
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  SELECT a.outcome, a.id, a.at, a.detail INTO outcome, id, at, detail
    FROM swarm.attempts a WHERE a.tenant = the_tenant AND a.attempt = the_attempt;
  IF FOUND THEN
    fingerprint := swarm.fingerprint_1(the_tenant, world.seq);
    RETURN NEXT;
    RETURN;
  END IF;
  clock := swarm.clock_1();
  at := greatest(clock, world.last_at);
  IF mode = 'accept clock' THEN
    at := clock;
  ELSIF mode IN ('usual', 'filing') AND at - clock > tolerance THEN
    at := NULL;
    IF mode = 'usual' THEN
      outcome := 'clock behind';
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;

  EXECUTE change INTO outcome, id, detail
    USING the_tenant, at, args || jsonb_build_object('tenant', the_tenant);
  IF mode = 'accept store' THEN
    world.log := greatest(world.log, seen_log) + 1;
    id := world.log;
  END IF;

  IF outcome = 'saved' THEN
    FOR i IN 1 .. cardinality(entries) LOOP
      world.seq := world.seq + 1;
      world.last_at := at;
      INSERT INTO swarm.log (tenant, seq, at, act, session) VALUES (
        the_tenant, world.seq, at,
        replace(swarm.complete_1(entries[i], id, at), E'\u0001d', coalesce(
          encode(sha256(convert_to(swarm.complete_1(digested, id, at), 'UTF8')), 'hex'), '')),
        CASE entry_sessions[i] WHEN 0 THEN id ELSE entry_sessions[i] END);
    END LOOP;
    IF mode = 'filing' THEN
      world.seq := world.seq + 1;
      world.last_at := at;
      INSERT INTO swarm.log (tenant, seq, at, committee_take) VALUES (the_tenant, world.seq, at, id);
    END IF;
    IF opens IS NOT NULL THEN
      IF last_opened.take IS DISTINCT FROM (SELECT t.id FROM swarm.takes t
          WHERE t.tenant = the_tenant AND t.session BETWEEN opens AND opens
          ORDER BY t.session DESC, t.id DESC LIMIT 1) THEN
        openings := swarm.openings_1(the_tenant, opens);
        last_opened := openings[cardinality(openings)];
      END IF;
      INSERT INTO swarm.log (tenant, seq, at, take, act, opened)
        SELECT the_tenant, world.seq + o.seq, at, o.take, 'opening', o.opened FROM unnest(openings) AS o;
      world.seq := world.seq + coalesce(last_opened.seq, 0);
      world.last_at := at;
    END IF;
    UPDATE swarm.tenants
      SET log = world.log, seq = world.seq, last_at = world.last_at, commits = commits + 1
      WHERE tenant = the_tenant;
  END IF;
  IF outcome IN ('saved', 'kept') THEN
    DELETE FROM swarm.attempts WHERE tenant = the_tenant AND made_at < clock - 600000;
    INSERT INTO swarm.attempts (tenant, attempt, made_at, outcome, id, at, detail)
      VALUES (the_tenant, the_attempt, clock, outcome, id, at, detail);
  END IF;
  log := world.log;
  size := world.seq;
  fingerprint := swarm.fingerprint_1(the_tenant, world.seq);
  RETURN NEXT;
END $$;

-- Files takes in the order given, each if its guards hold, checked in the order of the port; or its outcome is `held`: the
-- session of the take is held back. The statement that locks the tenant comes first, as in a commit.
--
-- Returns a row per take: its outcome, and for `filed` its id and time, for `again` the take that this
-- attempt filed before. The last row has the outcome `log`: the number of the log, of its last row, and the
-- fingerprint of that row. If the log does not continue from the position seen, that row is the only one,
-- has the outcome `other log`, and the fingerprint of the row with the number `seen_size`.
CREATE FUNCTION swarm.file_1(
  the_tenant text, patience bigint, seen_log bigint, seen_size bigint, seen_last text, tolerance bigint,
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
  of_session record;
  is_current boolean;
  clock bigint;
  now bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the isolation level must be read committed' USING ERRCODE = 'SW001';
  END IF;
  PERFORM set_config('lock_timeout', patience::text, true);
  SELECT * INTO world FROM swarm.tenants WHERE tenant = the_tenant FOR NO KEY UPDATE;
  world.log := coalesce(world.log, 1);
  world.seq := coalesce(world.seq, 0);
  IF seen_size > 0 THEN
    payload := swarm.fingerprint_1(the_tenant, seen_size);
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
      WHERE tenant = the_tenant AND member = the_members[i]
        AND nonce BETWEEN the_nonces[i] AND the_nonces[i]
      ORDER BY nonce LIMIT 1;
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
    SELECT version, held_until INTO of_session
      FROM swarm.sessions WHERE tenant = the_tenant AND id = the_sessions[i];
    is_current :=
      (SELECT version FROM swarm.members WHERE tenant = the_tenant AND id = the_members[i])
        = member_versions[i]
      AND of_session.version = session_versions[i]
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
    ELSIF coalesce((SELECT revision FROM swarm.takes
           WHERE tenant = the_tenant AND session = the_sessions[i] AND member = the_members[i]
           ORDER BY revision DESC LIMIT 1), 0)
        <> revisions[i] - 1 THEN
      outcome := 'revision taken';
    ELSIF now < of_session.held_until THEN
      outcome := 'held';
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
  payload := swarm.fingerprint_1(the_tenant, world.seq);
  RETURN NEXT;
END $$;
