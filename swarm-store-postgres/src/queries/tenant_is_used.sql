-- The condition that the tenant `t` has records other than challenges; a part of two statements.
(t.seq > 0
    OR EXISTS (SELECT FROM swarm.members r WHERE r.tenant = t.tenant)
    OR EXISTS (SELECT FROM swarm.messages r WHERE r.tenant = t.tenant)
    OR EXISTS (SELECT FROM swarm.sessions r WHERE r.tenant = t.tenant)
    OR EXISTS (SELECT FROM swarm.documents r WHERE r.tenant = t.tenant)
    OR EXISTS (SELECT FROM swarm.committee_members r WHERE r.tenant = t.tenant)
    OR EXISTS (SELECT FROM swarm.committee_days r WHERE r.tenant = t.tenant))
