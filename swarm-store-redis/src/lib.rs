//! The place of the Redis store: the storage port of `swarm-core` on Redis is not written yet.
