-- All revisions of the take `$2`, and the latest takes of other members that are next to it, before and after.
WITH shown AS (SELECT session, member FROM swarm.takes WHERE tenant = $1 AND id = $2),
latest AS (SELECT t.* FROM swarm.takes t JOIN shown USING (session)
    WHERE t.tenant = $1 AND t.member <> shown.member AND NOT EXISTS
        (SELECT 1 FROM swarm.takes later WHERE later.tenant = $1
         AND later.session = t.session AND later.member = t.member
         AND later.revision = t.revision + 1))
SELECT t.id, t.filed_at, t.session, t.revision, t.public_key, t.signature, t.payload
    FROM swarm.takes t JOIN shown USING (session, member) WHERE t.tenant = $1
UNION ALL (SELECT id, filed_at, session, revision, public_key, signature, payload
    FROM latest WHERE id < $2 ORDER BY id DESC LIMIT 1)
UNION ALL (SELECT id, filed_at, session, revision, public_key, signature, payload
    FROM latest WHERE id > $2 ORDER BY id LIMIT 1)
