
-- The functions of commits. They have the number of the layout in their names, so that no program calls a function of another
-- layout. The functions that make a commit are temporary: `commits.rs` generates them.

-- A time in milliseconds since 1970.
CREATE FUNCTION swarm.clock_2(at timestamptz) RETURNS bigint LANGUAGE sql VOLATILE
  AS $$ SELECT floor(extract(epoch FROM at) * 1000)::bigint $$;

-- The state of a tenant: the end of its log, and the time.
CREATE TYPE swarm.state_2 AS (log bigint, seq bigint, last_at bigint, last_commit bytea, clock bigint);

-- Begins commits of a tenant. The statement that locks the tenant comes before all that others may change: those after it see
-- every commit that it waited for. The clock is read after the lock.
CREATE FUNCTION swarm.begin_2(the_tenant text, patience bigint, known_layout bigint) RETURNS swarm.state_2
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  state swarm.state_2;
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
  state.clock := swarm.clock_2(clock_timestamp());
  layout := (SELECT number FROM swarm.layout);
  IF layout <> known_layout THEN
    RAISE EXCEPTION '%', layout USING ERRCODE = 'SW002';
  END IF;
  RETURN state;
END $$;
