
-- Views for people and their tools, to be read only. They stay the same in later layouts.

CREATE VIEW swarm.members_v1 AS
  SELECT tenant, id, state, version FROM swarm.members;

CREATE VIEW swarm.sessions_v1 AS
  SELECT tenant, id, date, subject, state, to_timestamp(convened_at / 1000.0) AS convened_at,
    to_timestamp(window_closes_at / 1000.0) AS window_closes_at, quorum, blind = 1 AS is_blind,
    to_timestamp(opened_at / 1000.0) AS opened_at, to_timestamp(published_at / 1000.0) AS published_at
  FROM swarm.sessions;

-- The payload is the signed text.
CREATE VIEW swarm.takes_v1 AS
  SELECT tenant, id, session, member, revision, nonce, to_timestamp(filed_at / 1000.0) AS filed_at,
    current IS NOT NULL AS is_current, public_key, signature, payload
  FROM swarm.takes;

-- An entry without a text is that of the record that it refers to.
CREATE VIEW swarm.log_v1 AS
  SELECT tenant, seq, to_timestamp(at / 1000.0) AS at, nullif(topic, 0) AS session, refers AS record_table, record AS record_id, entry
  FROM swarm.log;
