-- Layout 5: every commit is one call, so none holds its tenant's lock over a round trip.

-- Until then, takes of the session are held back, because it is being aggregated.
ALTER TABLE swarm.sessions ADD COLUMN held_until bigint;

-- The takes that a row of the log opens, by id. Each has an entry: the last one with the number of the row, those before it
-- with the numbers before. A row for each would hold the lock of the tenant for long.
ALTER TABLE swarm.log ADD COLUMN opened bigint[];

-- A snapshot may have megabytes, and to compress it takes longer than all else in its commit.
ALTER TABLE swarm.sessions ALTER COLUMN snapshot SET STORAGE EXTERNAL;

-- A time as records have it.
CREATE FUNCTION swarm.time_5(millis bigint) RETURNS text LANGUAGE sql IMMUTABLE
  AS $$ SELECT to_char(timestamp 'epoch' + millis * interval '1 millisecond', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- A text, with the id and the time of its commit in their places: U+0001 and `i` or `t`. In texts that are stored,
-- another character follows U+0001.
CREATE FUNCTION swarm.complete_5(record text, id bigint, at bigint) RETURNS text LANGUAGE sql IMMUTABLE
  AS $$ SELECT replace(replace(record, E'\u0001i', id::text), E'\u0001t', swarm.time_5(at)) $$;

-- Makes a commit. The statement that locks the tenant comes first: those after it see every commit that it waited for.
--
-- `change` is one statement that checks the guards, and writes if they hold. Its parameters are the tenant, the time of
-- the commit, and `args`. It returns an outcome, the id that it assigned, and further details. Only after the outcome
-- `saved` the log is appended to, and the commit is announced.
--
-- `mode` is `usual`, or:
--   `attempt`: the time is null if the clock is behind the log, and `change` decides; a row of the log refers to the
--     submission that it filed;
--   `accept clock`: the time is that of the clock, even if it is behind;
--   `accept store`: another log begins; the clock is not checked;
--   `unchecked`: the clock is not checked.
--
-- The entries are completed with the id and the time; in place of U+0001 and `d`, they get the digest of `digested`.
-- An entry on the session 0 is on the one that this commit convened. `opens` is a session whose takes are opened.
--
-- Returns one row. Its outcome is that of `change`, or: `other layout`, with its number as id; `other log`, with the
-- fingerprint of the row with the number `seen_size`; `clock behind`. Nothing is written then.
CREATE FUNCTION swarm.commit_5(
  the_tenant text, known_layout bigint, patience bigint, seen_log bigint, seen_size bigint, seen_last text,
  tolerance bigint, mode text, change text, args jsonb,
  entries text[], entry_sessions bigint[], digested text, opens bigint
) RETURNS TABLE (outcome text, id bigint, at bigint, detail text, log bigint, size bigint, mark text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  world swarm.tenants;
  clock bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the isolation level must be read committed' USING ERRCODE = 'SW001';
  END IF;
  PERFORM set_config('lock_timeout', patience::text, true);
  LOOP
    SELECT * INTO world FROM swarm.tenants WHERE tenant = the_tenant FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO swarm.tenants (tenant) VALUES (the_tenant) ON CONFLICT DO NOTHING;
  END LOOP;
  log := world.log;
  size := world.seq;
  SELECT number INTO id FROM swarm.layout;
  IF id > known_layout THEN
    outcome := 'other layout';
    RETURN NEXT;
    RETURN;
  END IF;
  IF seen_size > 0 THEN
    SELECT swarm.mark_1(l.at, l.take, l.committee_take, l.act) INTO mark
      FROM swarm.log l WHERE l.tenant = the_tenant AND l.seq = seen_size;
    IF world.log <> seen_log OR mark IS DISTINCT FROM seen_last THEN
      outcome := 'other log';
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  clock := swarm.clock_1();
  at := greatest(clock, world.last_at);
  IF mode = 'accept clock' THEN
    at := clock;
  ELSIF mode IN ('usual', 'attempt') AND at - clock > tolerance THEN
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
        replace(swarm.complete_5(entries[i], id, at), E'\u0001d', coalesce(
          encode(sha256(convert_to(swarm.complete_5(digested, id, at), 'UTF8')), 'hex'), '')),
        CASE entry_sessions[i] WHEN 0 THEN id ELSE entry_sessions[i] END);
    END LOOP;
    IF mode = 'attempt' THEN
      world.seq := world.seq + 1;
      world.last_at := at;
      INSERT INTO swarm.log (tenant, seq, at, committee_take) VALUES (the_tenant, world.seq, at, id);
    END IF;
    IF opens IS NOT NULL THEN
      INSERT INTO swarm.log (tenant, seq, at, take, act, opened)
        SELECT the_tenant, world.seq + max(n), at, max(id), 'opening', array_agg(id ORDER BY id)
        FROM (SELECT t.id, row_number() OVER (ORDER BY t.id) AS n
              FROM swarm.takes t WHERE t.tenant = the_tenant AND t.session = opens) AS numbered
        GROUP BY (n - 1) / 16;
      world.seq := (SELECT max(l.seq) FROM swarm.log l WHERE l.tenant = the_tenant);
      world.last_at := at;
    END IF;
    UPDATE swarm.tenants
      SET log = world.log, seq = world.seq, last_at = world.last_at, commits = commits + 1
      WHERE tenant = the_tenant;
  END IF;
  log := world.log;
  size := world.seq;
  SELECT swarm.mark_1(l.at, l.take, l.committee_take, l.act) INTO mark
    FROM swarm.log l WHERE l.tenant = the_tenant AND l.seq = world.seq;
  RETURN NEXT;
END $$;

-- Files takes as `file_1` does, but for the outcome `held`: the session of the take is held back.
--
-- Returns a row per take: its outcome, and for `filed` its id and time, for `again` the take that this
-- attempt filed before. The last row has the outcome `log`: the number of the log, of its last row, and the
-- fingerprint of that row. If the log does not continue from the position seen, that row is the only one,
-- has the outcome `other log`, and the fingerprint of the row with the number `seen_size`.
CREATE FUNCTION swarm.file_5(
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
    ELSIF coalesce((SELECT max(revision) FROM swarm.takes
           WHERE tenant = the_tenant AND session = the_sessions[i] AND member = the_members[i]), 0)
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
  SELECT swarm.mark_1(l.at, l.take, l.committee_take, l.act) INTO payload
    FROM swarm.log l WHERE l.tenant = the_tenant AND l.seq = world.seq;
  RETURN NEXT;
END $$;
