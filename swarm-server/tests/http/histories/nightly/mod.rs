//! Histories on the other stores, and anomalies that longer histories found.

mod anomalies;

use super::run;
use super::servers::Store;

#[test]
fn history_on_redis_is_consistent() {
    run(Store::redis());
}

#[test]
fn history_on_postgres_is_consistent() {
    run(Store::postgres());
}
