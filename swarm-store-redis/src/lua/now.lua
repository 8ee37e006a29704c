-- The time. The key only leads to the server that keeps the tenant.
return time()
