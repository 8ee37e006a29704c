-- Layout 2: the size of the documents of a tenant, in all collections whose size is limited.
ALTER TABLE swarm.tenants ADD COLUMN document_bytes bigint NOT NULL DEFAULT 0;
UPDATE swarm.tenants t SET document_bytes = (
  SELECT coalesce(sum(octet_length(d.record)), 0) FROM swarm.documents d
  WHERE d.tenant = t.tenant AND d.collection IN ('subjects', 'subject-snapshots', 'signals'));
