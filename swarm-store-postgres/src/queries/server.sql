-- The settings and figures of the server that tell what may be lost, and what may stop commits.
SELECT pg_is_in_recovery(),
    current_setting('synchronous_commit'), current_setting('fsync'),
    current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
    (SELECT count(*) FROM pg_stat_replication),
    (SELECT age(datfrozenxid)::bigint FROM pg_database WHERE datname = current_database()),
    (SELECT coalesce(sum(numbackends), 0)::bigint FROM pg_stat_database),
    current_setting('max_connections')::bigint,
    current_setting('transaction_read_only') = 'on',
    has_database_privilege(current_database(), 'TEMPORARY')
