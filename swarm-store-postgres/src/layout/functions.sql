
-- The functions of commits. The functions that make a commit are temporary: `commits.rs` generates them.

-- A time in milliseconds since 1970.
CREATE FUNCTION swarm.clock(at timestamptz) RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT floor(extract(epoch FROM at) * 1000)::bigint $$;

-- The state of a tenant: the end of its log, and the time.
CREATE TYPE swarm.state AS (log bigint, seq bigint, last_at bigint, last_commit bytea, clock bigint);

-- Begins commits of a tenant. The statement that locks the tenant comes before all that others may change: those after it see
-- every commit that it waited for. The clock is read after the lock. Commits for which the lock came later than their patience, in
-- milliseconds, are refused. A program passes the number of the layout that it knows.
CREATE FUNCTION swarm.begin_commits(the_tenant text, patience bigint, known_layout bigint) RETURNS swarm.state
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  state swarm.state;
  setting text;
  layout bigint;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'the isolation level must be read committed' USING ERRCODE = 'SW001';
  END IF;
  setting := set_config('lock_timeout', patience::text, true);
  -- Its statements read few rows, whatever the values are.
  setting := set_config('plan_cache_mode', 'force_generic_plan', true);
  LOOP
    SELECT log, seq, last_at, last_commit INTO state
      FROM swarm.tenants WHERE tenant = the_tenant FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO swarm.tenants (tenant) VALUES (the_tenant) ON CONFLICT DO NOTHING;
  END LOOP;
  -- It may wait more than once, each time for as long as `lock_timeout` allows.
  IF clock_timestamp() > statement_timestamp() + patience * interval '1 ms' THEN
    RAISE EXCEPTION 'the lock of the tenant came too late' USING ERRCODE = 'lock_not_available';
  END IF;
  state.clock := swarm.clock(clock_timestamp());
  layout := (SELECT number FROM swarm.layout);
  IF layout <> known_layout THEN
    RAISE EXCEPTION '%', layout USING ERRCODE = 'SW002';
  END IF;
  RETURN state;
END $$;
