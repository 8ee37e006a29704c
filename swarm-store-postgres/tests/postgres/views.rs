//! What people and their tools may rely on across layouts: the views, and a trigger on takes.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use swarm_core::TenantId;
use swarm_postgres_testing::Server;
use swarm_store_postgres::PostgresStore;
use swarm_testing::TestTenant;

#[tokio::test]
async fn views_show_records_and_a_trigger_on_takes_is_fired() {
    let server = Server::start(&[]);
    let url = server.url();
    let schema = url.split_once("schema=").unwrap().1;
    let store = PostgresStore::create(&url).await.unwrap();
    server.psql(&format!(
        "CREATE TABLE filed (take bigint);
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql
             AS 'BEGIN INSERT INTO public.filed VALUES (NEW.id); RETURN NULL; END';
         CREATE TRIGGER note AFTER INSERT ON {schema}.takes FOR EACH ROW EXECUTE FUNCTION note()"
    ));
    let world = TestTenant::open(store, TenantId::parse("acme").unwrap());
    let (author, session) = (world.author("ada").await, world.convened("aurora").await);
    for nonce in ["1", "2"] {
        world.filed(&author, &session, nonce).await;
    }
    assert_eq!(server.psql("SELECT string_agg(take::text, ' ' ORDER BY take) FROM filed"), "1 2");
    let view = |columns: &str, view: &str| {
        let rows =
            format!("SELECT concat_ws(' ', {columns}) FROM {schema}.{view} WHERE tenant = 'acme'");
        server.psql(&rows).replace('\n', ", ")
    };
    let takes = view("id, session, revision, nonce, is_current", "takes_v1");
    assert_eq!(takes, "1 1 1 1 f, 2 1 2 2 t");
    assert_eq!(view("id, subject, state, is_blind", "sessions_v1"), "1 aurora collecting f");
    assert_eq!(view("count(*)", "members_v1"), "1");
    let log = view("seq, session, record_table, record_id", "log_v1");
    assert_eq!(log, "1 1, 2 takes 1, 3 takes 2");
    let year = view("extract(year FROM filed_at) > 2000", "takes_v1");
    assert_eq!(year, "t, t");
}
