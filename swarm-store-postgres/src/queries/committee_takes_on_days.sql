-- The submissions to the committee on the days `$2`, in their order.
SELECT take.record
FROM unnest($2) WITH ORDINALITY AS day (date, place)
JOIN swarm.committee_takes take ON take.tenant = $1 AND take.date = day.date
ORDER BY day.place, take.id
