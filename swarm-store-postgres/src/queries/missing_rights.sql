-- What has to be granted to the role before a store can use the schema $1, for writes if $2; null if nothing.
WITH schema AS (SELECT oid, quote_ident(nspname) AS name FROM pg_namespace WHERE nspname = $1),
needed AS (
  SELECT 'SELECT' AS privilege UNION ALL SELECT unnest(ARRAY['INSERT', 'UPDATE', 'DELETE']) WHERE $2
),
missing AS (
  SELECT 'USAGE ON SCHEMA ' || name AS granted FROM schema WHERE NOT has_schema_privilege(oid, 'USAGE')
  UNION ALL
  SELECT privilege || ' ON ' || name || '.' || quote_ident(relname)
  FROM schema JOIN pg_class c ON relnamespace = schema.oid CROSS JOIN needed
  WHERE relkind IN ('r', 'p') AND (relname <> 'layout' OR privilege = 'SELECT')
    AND NOT has_table_privilege(c.oid, privilege)
  UNION ALL
  SELECT 'EXECUTE ON FUNCTION ' || p.oid::regprocedure
  FROM schema JOIN pg_proc p ON pronamespace = schema.oid
  WHERE $2 AND NOT has_function_privilege(p.oid, 'EXECUTE')
  UNION ALL
  SELECT 'USAGE ON TYPE ' || t.oid::regtype
  FROM schema JOIN pg_type t ON typnamespace = schema.oid LEFT JOIN pg_class c ON c.oid = typrelid
  WHERE $2 AND typtype = 'c' AND relkind = 'c' AND NOT has_type_privilege(t.oid, 'USAGE')
)
SELECT string_agg(granted, '; ' ORDER BY granted) FROM missing
