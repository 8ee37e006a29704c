-- The take `$2`, and the id of the revision after it, if there is one.
SELECT t.id, t.filed_at, t.session, t.revision, t.public_key, t.signature, t.payload,
    (SELECT later.id FROM swarm.takes later
     WHERE later.tenant = $1 AND later.session = t.session
         AND later.member = t.member AND later.revision = t.revision + 1)
FROM swarm.takes t WHERE t.tenant = $1 AND t.id = $2
