//! All tests of the PostgreSQL store, in one binary: each binary would be linked by itself.

// mod before_the_lock;
mod conformance;
mod nightly;
mod plans;
mod pool;
