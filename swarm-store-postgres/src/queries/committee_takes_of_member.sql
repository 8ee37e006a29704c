-- The last submission of the member `$2` on each subject of each day before `$3`, the latest first, at most `$4`.
SELECT record FROM swarm.committee_takes
WHERE tenant = $1 AND id IN (
    SELECT max(id) FROM swarm.committee_takes
    WHERE tenant = $1 AND member = $2 AND date < $3
    GROUP BY date, subject ORDER BY date DESC, max(id) DESC LIMIT $4)
ORDER BY date DESC, id DESC
