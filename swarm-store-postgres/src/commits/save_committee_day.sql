-- Writes a day of the committee; with briefs, replaces those of the day, and deletes those of earlier days, which are
-- never read.
WITH judged AS (SELECT CASE WHEN ($3 ->> 'expected')::bigint IS NOT DISTINCT FROM
    (SELECT version FROM swarm.committee_days WHERE tenant = $1 AND date = $3 ->> 'date')
    THEN 'saved' ELSE 'stale' END AS outcome),
saved AS (INSERT INTO swarm.committee_days
    SELECT day.* FROM judged, jsonb_populate_record(NULL::swarm.committee_days, $3) AS day
    WHERE outcome = 'saved'
    ON CONFLICT (tenant, date) DO UPDATE SET version = excluded.version, about = excluded.about,
        record = excluded.record),
forgotten AS (DELETE FROM swarm.committee_briefs AS old USING judged
    WHERE tenant = $1 AND date < $3 ->> 'date' AND outcome = 'saved'
        AND $3 ->> 'briefs' IS NOT NULL),
replaced AS (DELETE FROM swarm.committee_briefs AS old USING judged
    WHERE tenant = $1 AND date = $3 ->> 'date' AND outcome = 'saved' AND $3 ->> 'briefs' IS NOT NULL
        AND NOT EXISTS (SELECT FROM jsonb_array_elements($3 -> 'briefs') AS brief
            WHERE brief ->> 'member' = old.member)),
generated AS (INSERT INTO swarm.committee_briefs (tenant, date, member, record)
    SELECT $1, brief.date, brief.member, brief.record
    FROM judged, jsonb_populate_recordset(NULL::swarm.committee_briefs, $3 -> 'briefs') AS brief
    WHERE outcome = 'saved'
    ON CONFLICT (tenant, date, member) DO UPDATE SET record = excluded.record)
SELECT outcome, 0, NULL FROM judged
