-- Layout 5: the size of the documents of a tenant, in all collections whose size is limited.
CREATE TABLE document_bytes (
  tenant TEXT NOT NULL PRIMARY KEY,
  bytes INTEGER NOT NULL -- of their records
) STRICT, WITHOUT ROWID;
INSERT INTO document_bytes (tenant, bytes)
  SELECT tenant, sum(length(CAST(record AS BLOB))) FROM documents
  WHERE collection IN ('subjects', 'subject-snapshots', 'signals') GROUP BY tenant;
