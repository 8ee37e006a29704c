-- Files a submission to the committee. The details of `again` are what this attempt filed before.
WITH attempted AS (SELECT record FROM swarm.committee_takes WHERE tenant = $1
    AND member = $3 ->> 'member' AND date = $3 ->> 'date' AND attempt = ($3 ->> 'attempt')::bytea),
judged AS (SELECT CASE
    WHEN EXISTS (SELECT FROM attempted) THEN 'again'
    WHEN (SELECT version FROM swarm.committee_members WHERE tenant = $1 AND id = $3 ->> 'member')
        IS DISTINCT FROM ($3 ->> 'member_version')::bigint THEN 'stale'
    WHEN (SELECT version FROM swarm.committee_days WHERE tenant = $1 AND date = $3 ->> 'date')
        IS DISTINCT FROM ($3 ->> 'day_version')::bigint THEN 'stale'
    WHEN $2 IS NULL THEN 'clock behind'
    WHEN $2 > ($3 ->> 'deadline')::bigint THEN 'late'
    WHEN $3 ->> 'quota' IS NOT NULL AND ($3 ->> 'quota')::bigint <= (SELECT count(*)
        FROM swarm.committee_takes WHERE tenant = $1 AND member = $3 ->> 'member'
            AND date = $3 ->> 'date') THEN 'full'
    ELSE 'saved' END AS outcome),
counted AS (UPDATE swarm.tenants SET committee_takes = committee_takes + 1 FROM judged
    WHERE tenant = $1 AND outcome = 'saved' RETURNING committee_takes AS id),
filed AS (INSERT INTO swarm.committee_takes (tenant, id, date, member, subject, attempt, record)
    SELECT $1, id, $3 ->> 'date', $3 ->> 'member', $3 ->> 'subject', ($3 ->> 'attempt')::bytea,
        swarm.complete_1($3 ->> 'record', id, $2) FROM counted)
SELECT outcome, (SELECT id FROM counted), (SELECT record FROM attempted) FROM judged
