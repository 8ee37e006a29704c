-- Writes a member of the committee.
WITH judged AS (SELECT CASE WHEN ($3 ->> 'expected')::bigint IS NOT DISTINCT FROM
    (SELECT version FROM swarm.committee_members WHERE tenant = $1 AND id = $3 ->> 'id')
    THEN 'saved' ELSE 'stale' END AS outcome),
saved AS (INSERT INTO swarm.committee_members
    SELECT member.* FROM judged, jsonb_populate_record(NULL::swarm.committee_members, $3) AS member
    WHERE outcome = 'saved'
    ON CONFLICT (tenant, id) DO UPDATE SET version = excluded.version, api_key = excluded.api_key,
        record = excluded.record)
SELECT outcome, 0, NULL FROM judged
