-- The functions that carry out queries and transactions. They have the number of the layout in their names, so that no program
-- calls a function of another layout.
--
-- A call has a program in JSON, which `program.rs` writes, and its values: `vals` are the values of columns, `texts` the parts of
-- records. A place in either is counted from 0. A range has the place of its first value as `at` and their number as `count`. It
-- is answered by a function of its table if it has `table`, and else by the statement `sql`, which is planned each time.
--
-- The plans of functions are made once in each connection, maybe for tables that are still empty, where all indexes seem to be as
-- good. So every generated statement orders its rows in the way of one index: each of the others would read more rows.

-- The time of the clock.
CREATE FUNCTION swarm.clock_2() RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- The first record of a range, but for the one whose key is at `except`.
CREATE FUNCTION swarm.range_2(the_tenant text, r jsonb, vals text[], base integer) RETURNS swarm.found_2
LANGUAGE plpgsql STABLE AS $$
DECLARE
  result swarm.found_2;
  place integer := base + (r->>'at')::integer;
BEGIN
  IF r ? 'table' THEN
    RETURN swarm.first_2(r->>'table', the_tenant, (r->>'index')::integer, vals, place, (r->>'count')::integer,
      (r->>'descending')::boolean, base + (r->>'except')::integer, (r->>'parts')::integer);
  END IF;
  EXECUTE r->>'sql' INTO result USING the_tenant, vals[place + 1 : place + (r->>'count')::integer];
  RETURN result;
END $$;

-- Answers queries in the snapshot of the statement that calls it.
--
-- Returns the end of the log as query -1: the time of the clock, the number of the log, the number of the last entry, its time
-- and its commit. Then for each query its rows, each maybe with the row that it is joined with, and the number of the rows before
-- some were left out.
CREATE FUNCTION swarm.answers_2(the_tenant text, clock bigint, queries jsonb, vals text[]) RETURNS TABLE (
  query integer, row_version bigint, row_columns text[], row_parts text[],
  joined_version bigint, joined_columns text[], joined_parts text[], total bigint
) LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
  world swarm.tenants;
  q jsonb;
  result swarm.found_2;
  place integer;
  is_first boolean;
  fill jsonb;
BEGIN
  SELECT * INTO world FROM swarm.tenants WHERE tenant = the_tenant;
  query := -1;
  row_columns := ARRAY[clock, coalesce(world.log, 1), coalesce(world.seq, 0), world.last_at]::text[]
    || encode(world.last_commit, 'hex');
  RETURN NEXT;
  FOR q IN SELECT value FROM jsonb_array_elements(queries) LOOP
    query := query + 1;
    row_version := NULL; row_parts := NULL;
    joined_version := NULL; joined_columns := NULL; joined_parts := NULL; total := NULL;
    IF q ? 'table' THEN
      result := swarm.range_2(the_tenant, q, vals, 0);
      IF result.version IS NOT NULL THEN
        row_version := result.version;
        row_columns := result.columns;
        row_parts := result.parts;
        RETURN NEXT;
        FOR fill IN SELECT value FROM jsonb_array_elements(q->'fills') LOOP
          vals[(fill->>0)::integer + 1] := row_columns[(fill->>1)::integer + 1];
        END LOOP;
      END IF;
    ELSIF q ? 'sql' THEN
      is_first := true;
      place := (q->>'at')::integer;
      FOR row_version, row_columns, row_parts, joined_version, joined_columns, joined_parts, total IN
        EXECUTE q->>'sql' USING the_tenant, vals[place + 1 : place + (q->>'count')::integer]
      LOOP
        RETURN NEXT;
        IF is_first THEN
          is_first := false;
          FOR fill IN SELECT value FROM jsonb_array_elements(q->'fills') LOOP
            vals[(fill->>0)::integer + 1] := row_columns[(fill->>1)::integer + 1];
          END LOOP;
        END IF;
      END LOOP;
    ELSIF q ? 'sequence' THEN
      row_columns := ARRAY[coalesce(
        (SELECT number FROM swarm.sequences WHERE tenant = the_tenant AND name = q->>'sequence'), 0)::text];
      RETURN NEXT;
    ELSIF q ? 'commit' THEN
      row_columns := ARRAY[(SELECT encode(commit_id, 'hex') FROM swarm.log
        WHERE tenant = the_tenant AND seq = (q->>'commit')::bigint)];
      RETURN NEXT;
    ELSIF q ? 'topic' THEN
      RETURN QUERY
        SELECT query, l.seq, ARRAY[l.at::text, encode(l.commit_id, 'hex'), l.topic::text, l.assigned::text, l.refers,
            l.record::text], ARRAY[l.entry], r.version, r.columns, r.parts, NULL::bigint
        FROM (SELECT * FROM swarm.log WHERE tenant = the_tenant
              AND topic BETWEEN (q->>'topic')::bigint AND (q->>'topic')::bigint AND seq > (q->>'after')::bigint
              ORDER BY topic, seq LIMIT (q->>'limit')::bigint) AS l
        LEFT JOIN LATERAL swarm.first_2(l.refers, the_tenant, -1, ARRAY[l.record::text], 0, 1, false, NULL, -1) AS r
          ON l.refers IS NOT NULL
        ORDER BY l.seq;
    ELSE
      RETURN QUERY
        SELECT query, l.seq, ARRAY[l.at::text, encode(l.commit_id, 'hex'), l.topic::text, l.assigned::text, l.refers,
            l.record::text], ARRAY[l.entry], r.version, r.columns, r.parts, NULL::bigint
        FROM (SELECT * FROM swarm.log WHERE tenant = the_tenant AND seq > (q->>'after')::bigint
              ORDER BY seq LIMIT (q->>'limit')::bigint) AS l
        LEFT JOIN LATERAL swarm.first_2(l.refers, the_tenant, -1, ARRAY[l.record::text], 0, 1, false, NULL, -1) AS r
          ON l.refers IS NOT NULL
        ORDER BY l.seq;
    END IF;
  END LOOP;
END $$;

-- Answers queries, all in one snapshot, which is taken after the clock was read.
CREATE FUNCTION swarm.read_2(the_tenant text, queries jsonb, vals text[]) RETURNS TABLE (
  query integer, row_version bigint, row_columns text[], row_parts text[],
  joined_version bigint, joined_columns text[], joined_parts text[], total bigint
) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  clock bigint := swarm.clock_2();
BEGIN
  RETURN QUERY SELECT * FROM swarm.answers_2(the_tenant, clock, queries, vals);
END $$;

-- Makes a change of records: writes one, or runs a statement.
CREATE FUNCTION swarm.change_2(
  the_tenant text, c jsonb, vals text[], base integer, texts text[], text_base integer
) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  place integer := base + (c->>'at')::integer;
BEGIN
  IF c ? 'table' THEN
    PERFORM swarm.write_2(c->>'table', the_tenant, (c->>'replaces')::boolean, vals, place, texts,
      text_base + (c->>'text')::integer);
  ELSE
    EXECUTE c->>'sql' USING the_tenant, vals[place + 1 : place + (c->>'count')::integer];
  END IF;
END $$;

-- Makes commits, each whole or not at all, in the order given. The statement that locks the tenant comes before all that others may
-- change: those after it see every commit that it waited for. The clock is read after the lock.
--
-- The checks of a commit precede its writes, so one that is refused has written nothing. Of the sequences and the end of the log, the
-- state is kept in variables and written once.
--
-- Returns a row for each commit: its outcome, and the end of the log after it. The outcome is `committed`, with the time and the
-- numbers that it assigned; `repeated`, with the record that shows it; `failed`, with the position of the check, and the record that
-- it found; `another log`, `went back` or `clock behind`. The only row is `other layout` if the layout has another number, which
-- then is the time.
CREATE FUNCTION swarm.commit_2(
  the_tenant text, known_layout bigint, patience bigint, tolerance bigint, transactions jsonb, vals text[], texts text[]
) RETURNS TABLE (
  outcome text, made_at bigint, assigned_numbers bigint[], failed_check integer,
  row_version bigint, row_columns text[], row_parts text[],
  head_log bigint, head_size bigint, head_at bigint, head_commit text
) LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
  world swarm.tenants;
  clock bigint;
  names text[];
  sums bigint[];
  is_changed boolean := false;
  has_sums boolean := false;
  has_attempts boolean := false;
  base integer := 0;
  text_base integer := 0;
  next_base integer := 0;
  next_text_base integer := 0;
  t jsonb;
  c jsonb;
  kind text;
  id bytea;
  seen bytea;
  result swarm.found_2;
  amount bigint;
  place integer;
  the_log bigint;
  is_met boolean;
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
  clock := swarm.clock_2();
  SELECT number INTO made_at FROM swarm.layout;
  IF made_at <> known_layout THEN
    outcome := 'other layout';
    RETURN NEXT;
    RETURN;
  END IF;
  SELECT coalesce(array_agg(name), '{}'), coalesce(array_agg(number), '{}') INTO names, sums
    FROM swarm.sequences WHERE tenant = the_tenant;

  <<each_transaction>>
  FOR t IN SELECT value FROM jsonb_array_elements(transactions) LOOP
    base := next_base;
    text_base := next_text_base;
    next_base := base + (t->>'values')::integer;
    next_text_base := text_base + (t->>'texts')::integer;
    outcome := NULL; made_at := NULL; assigned_numbers := NULL; failed_check := NULL;
    row_version := NULL; row_columns := NULL; row_parts := NULL;
    head_log := world.log; head_size := world.seq; head_at := world.last_at;
    head_commit := encode(world.last_commit, 'hex');
    kind := t->>'kind';
    id := decode(t->>'id', 'hex');

    -- The log continues from the position that was seen.
    amount := (t->>'seen')::bigint;
    IF amount > 0 THEN
      seen := world.last_commit;
      IF amount <> world.seq THEN
        seen := (SELECT commit_id FROM swarm.log WHERE tenant = the_tenant AND seq = amount);
      END IF;
      IF world.log > (t->>'log')::bigint THEN
        outcome := 'another log';
      ELSIF world.log <> (t->>'log')::bigint OR seen IS NULL OR seen IS DISTINCT FROM decode(t->>'last', 'hex') THEN
        outcome := 'went back';
      END IF;
      IF outcome IS NOT NULL THEN
        RETURN NEXT;
        CONTINUE;
      END IF;
    END IF;

    -- It was not made before.
    IF t ? 'repetition' THEN
      c := t->'repetition';
      result := swarm.range_2(the_tenant, c, vals, base);
      IF result.columns[(c->>'column')::integer + 1] = t->>'id' THEN
        outcome := 'repeated';
        row_version := result.version; row_columns := result.columns; row_parts := result.parts;
        RETURN NEXT;
        CONTINUE;
      END IF;
    ELSE
      SELECT a.at, a.numbers INTO made_at, assigned_numbers
        FROM swarm.attempts a WHERE a.tenant = the_tenant AND a.attempt = id;
      IF FOUND THEN
        outcome := 'committed';
        RETURN NEXT;
        CONTINUE;
      END IF;
    END IF;

    made_at := greatest(clock, world.last_at);
    IF kind IN ('accept clock', 'aside') THEN
      made_at := clock;
    ELSIF kind = 'usual' AND made_at - clock > tolerance THEN
      outcome := 'clock behind';
      RETURN NEXT;
      CONTINUE;
    END IF;

    failed_check := -1;
    FOR c IN SELECT value FROM jsonb_array_elements(t->'checks') LOOP
      failed_check := failed_check + 1;
      CASE c->>'check'
        WHEN 'version' THEN
          result := swarm.range_2(the_tenant, c, vals, base);
          is_met := result.version IS NOT DISTINCT FROM (c->>'version')::bigint;
          result := NULL;
        WHEN 'not after' THEN
          is_met := made_at <= (c->>'time')::bigint;
          result := NULL;
        WHEN 'first' THEN
          result := swarm.range_2(the_tenant, c, vals, base);
          is_met := result.version IS NOT NULL AND result.columns[(c->>'column')::integer + 1]
            IS NOT DISTINCT FROM vals[base + (c->>'value')::integer + 1]
            AND result.version = coalesce((c->>'version')::bigint, result.version);
          result := NULL;
        WHEN 'none' THEN
          result := swarm.range_2(the_tenant, c, vals, base);
          is_met := result.version IS NULL;
        WHEN 'sum' THEN
          is_met := coalesce(sums[array_position(names, c->>'name')], 0) <= (c->>'most')::bigint;
          result := NULL;
        ELSE
          place := base + (c->>'at')::integer;
          IF c ? 'table' THEN
            amount := swarm.count_2(c->>'table', the_tenant, (c->>'index')::integer, vals, place,
              (c->>'count')::integer, base + (c->>'except')::integer, (c->>'enough')::bigint);
          ELSE
            EXECUTE c->>'sql' INTO amount USING the_tenant, vals[place + 1 : place + (c->>'count')::integer];
          END IF;
          is_met := amount BETWEEN (c->>'least')::bigint AND (c->>'most')::bigint;
          result := NULL;
      END CASE;
      IF NOT is_met THEN
        outcome := 'failed';
        row_version := result.version; row_columns := result.columns; row_parts := result.parts;
        RETURN NEXT;
        CONTINUE each_transaction;
      END IF;
    END LOOP;

    the_log := world.log;
    assigned_numbers := '{}';
    IF kind = 'accept log' THEN
      the_log := greatest(world.log, (t->>'log')::bigint) + 1;
      assigned_numbers := ARRAY[the_log];
    END IF;
    FOR c IN SELECT value FROM jsonb_array_elements(t->'sequences') LOOP
      place := array_position(names, c#>>'{}');
      IF place IS NULL THEN
        names := names || (c#>>'{}');
        sums := sums || 0::bigint;
        place := cardinality(names);
      END IF;
      sums[place] := sums[place] + 1;
      assigned_numbers := assigned_numbers || sums[place];
      has_sums := true;
    END LOOP;
    FOR c IN SELECT value FROM jsonb_array_elements(t->'assigned') LOOP
      place := (c->>1)::integer;
      vals[base + (c->>0)::integer + 1] := CASE WHEN place < 0 THEN made_at ELSE assigned_numbers[place + 1] END;
    END LOOP;

    FOR c IN SELECT value FROM jsonb_array_elements(t->'writes') LOOP
      IF c ? 'sum' THEN
        place := array_position(names, c->>'sum');
        IF place IS NULL THEN
          names := names || (c->>'sum');
          sums := sums || 0::bigint;
          place := cardinality(names);
        END IF;
        sums[place] := greatest(sums[place] + (c->>'amount')::bigint, 0);
        has_sums := true;
      ELSE
        PERFORM swarm.change_2(the_tenant, c, vals, base, texts, text_base);
      END IF;
    END LOOP;

    amount := world.seq;
    FOR c IN SELECT value FROM jsonb_array_elements(t->'entries') LOOP
      IF c ? 'sql' THEN
        place := base + (c->>'at')::integer;
        EXECUTE c->>'sql' USING the_tenant, vals[place + 1 : place + (c->>'count')::integer], amount, made_at, id,
          texts[text_base + (c->>'text')::integer + 1];
        GET DIAGNOSTICS place = ROW_COUNT;
        amount := amount + place;
      ELSE
        amount := amount + 1;
        INSERT INTO swarm.log (tenant, seq, at, commit_id, topic, assigned, refers, record, entry) VALUES (
          the_tenant, amount, made_at, id, vals[base + (c->>'topic')::integer + 1]::bigint,
          assigned_numbers[(c->>'assigned')::integer + 1], c->>'refers',
          vals[base + (c->>'record')::integer + 1]::bigint, texts[text_base + (c->>'text')::integer + 1]);
      END IF;
    END LOOP;
    IF amount > world.seq THEN
      world.log := the_log;
      world.seq := amount;
      world.last_at := made_at;
      world.last_commit := id;
    END IF;
    IF (t->>'announced')::boolean THEN
      world.commits := world.commits + 1;
    END IF;
    is_changed := is_changed OR amount > head_size OR (t->>'announced')::boolean;
    IF NOT t ? 'repetition' THEN
      INSERT INTO swarm.attempts (tenant, attempt, made_at, at, numbers)
        VALUES (the_tenant, id, clock, made_at, assigned_numbers);
      has_attempts := true;
    END IF;
    outcome := 'committed';
    failed_check := NULL;
    head_log := the_log; head_size := world.seq; head_at := world.last_at;
    head_commit := encode(world.last_commit, 'hex');
    RETURN NEXT;
  END LOOP;

  IF has_sums THEN
    INSERT INTO swarm.sequences AS stored (tenant, name, number)
      SELECT the_tenant, n, s FROM unnest(names, sums) AS kept (n, s)
      ON CONFLICT (tenant, name) DO UPDATE SET number = excluded.number WHERE stored.number <> excluded.number;
  END IF;
  IF has_attempts THEN
    DELETE FROM swarm.attempts a WHERE a.tenant = the_tenant AND a.made_at < clock - 600000;
  END IF;
  IF is_changed THEN
    UPDATE swarm.tenants SET log = world.log, seq = world.seq, last_at = world.last_at,
        last_commit = world.last_commit, commits = world.commits
      WHERE tenant = the_tenant;
  END IF;
END $$;

-- Writes items of a load: changes, sequences and entries of the log. The caller has locked the tenant.
CREATE FUNCTION swarm.load_2(the_tenant text, items jsonb, vals text[], texts text[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  c jsonb;
  place integer;
  last jsonb;
BEGIN
  FOR c IN SELECT value FROM jsonb_array_elements(items) LOOP
    place := (c->>'at')::integer;
    IF c ? 'sequence' THEN
      INSERT INTO swarm.sequences (tenant, name, number)
        VALUES (the_tenant, c->>'sequence', (c->>'number')::bigint)
        ON CONFLICT (tenant, name) DO UPDATE SET number = excluded.number;
    ELSIF c ? 'log' THEN
      INSERT INTO swarm.log (tenant, seq, at, commit_id, topic, assigned, refers, record, entry) VALUES (
        the_tenant, vals[place + 1]::bigint, vals[place + 2]::bigint, decode(vals[place + 3], 'hex'),
        vals[place + 4]::bigint, vals[place + 5]::bigint, vals[place + 6], vals[place + 7]::bigint,
        texts[(c->>'text')::integer + 1]);
      last := c;
    ELSE
      PERFORM swarm.change_2(the_tenant, c, vals, 0, texts, 0);
    END IF;
  END LOOP;
  place := (last->>'at')::integer;
  UPDATE swarm.tenants SET log = (last->>'log')::bigint, seq = vals[place + 1]::bigint,
      last_at = vals[place + 2]::bigint, last_commit = decode(vals[place + 3], 'hex')
    WHERE tenant = the_tenant AND last IS NOT NULL;
END $$;
