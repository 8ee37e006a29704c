-- Layout 4: sessions are found by their subject, and takes by their member: the index of revisions begins with the member.
CREATE INDEX sessions_by_subject ON swarm.sessions (tenant, subject, id);
DROP INDEX swarm.takes_by_revision;
CREATE UNIQUE INDEX takes_by_revision ON swarm.takes (tenant, member, session, revision);
