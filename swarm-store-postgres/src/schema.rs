//! The schema that holds the tables, and its layout: the tables, functions and the format of their values.

use std::borrow::Cow;
use std::time::Duration;

use tokio::time::sleep;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use crate::failure::{Failure, Outcome};

/// The migration to each layout from the one before, in order.
const LAYOUTS: [&str; 1] =
    [concat!(include_str!("layout/tables.sql"), include_str!("layout/functions.sql"))];

/// The layout that this release reads and writes.
pub(crate) const LAYOUT: usize = LAYOUTS.len();

/// How often the first steps are tried again when another process takes them at the same time.
const MAX_RACES: u32 = 10;

/// A schema.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    name: String,
    /// Its name in statements, before its tables: quoted, and followed by a full stop.
    prefix: String,
}

impl Schema {
    pub(crate) const DEFAULT: &'static str = "swarm";

    pub(crate) fn named(name: &str) -> Self {
        let prefix = format!("\"{}\".", name.replace('"', "\"\""));
        Self { name: name.to_owned(), prefix }
    }

    /// A statement, with this schema in place of `swarm.`.
    pub(crate) fn qualify<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        match self.name == Self::DEFAULT {
            true => Cow::Borrowed(sql),
            false => Cow::Owned(sql.replace("swarm.", &self.prefix)),
        }
    }

    /// Migrates the schema to the layout of this release; creates it if there is none. Writes nothing to one
    /// that has it, so a role that may not change tables can use it.
    ///
    /// # Errors
    /// [`Failure`], with nothing written, when the layout is newer than this release, or the role may not
    /// migrate it.
    pub(crate) async fn bring_up_to_date(&self, client: &Client) -> Outcome<()> {
        if self.layout(client).await? == LAYOUT {
            return Ok(());
        }
        self.migrate(client, &LAYOUTS).await.map_err(|failure| match failure {
            refused if refused.is(&SqlState::INSUFFICIENT_PRIVILEGE) => Failure::misconfigured(format!(
                "the schema {} has not the layout {LAYOUT}, and this role may not change it ({refused}): \
                 connect once as its owner",
                self.name
            )),
            other => other,
        })
    }

    /// Makes those migrations that the schema lacks, all or none.
    async fn migrate(&self, client: &Client, layouts: &[&str]) -> Outcome<()> {
        self.prepare(client).await?;
        let migrated = self.migrate_prepared(client, layouts).await;
        if migrated.is_err() {
            // The connection may be closed already.
            let _ = client.batch_execute("ROLLBACK").await;
        }
        migrated
    }

    async fn migrate_prepared(&self, client: &Client, layouts: &[&str]) -> Outcome<()> {
        // Another process that migrates it waits here, and then finds the layout.
        let begin =
            "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE swarm.layout IN EXCLUSIVE MODE";
        client.batch_execute(&self.qualify(begin)).await?;
        let newest = layouts.len();
        for statements in layouts.iter().skip(self.layout_up_to(newest, client).await?) {
            client.batch_execute(&self.qualify(statements)).await?;
        }
        let end = format!("UPDATE swarm.layout SET number = {newest}; COMMIT");
        Ok(client.batch_execute(&self.qualify(&end)).await?)
    }

    /// Creates the schema and the table with the number of the layout, where they are missing. Two processes
    /// that do it at the same time may disturb each other.
    async fn prepare(&self, client: &Client) -> Outcome<()> {
        const TABLE: &str = "CREATE TABLE IF NOT EXISTS swarm.layout (
                one boolean PRIMARY KEY DEFAULT true CHECK (one), number integer NOT NULL);
            INSERT INTO swarm.layout (number) VALUES (0) ON CONFLICT DO NOTHING";
        const EXISTS: &str = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
        let mut races = 0;
        loop {
            let known = client.query_typed(EXISTS, &[(&self.name, Type::NAME)]).await?;
            let create = match known.is_empty() {
                true => {
                    format!("CREATE SCHEMA IF NOT EXISTS {}; ", self.prefix.trim_end_matches('.'))
                }
                // A role that may create tables in the schema need not be one that may create schemas.
                false => String::new(),
            };
            let made = client.batch_execute(&(create + &self.qualify(TABLE))).await;
            let Err(failure) = made.map_err(Failure::from) else { return Ok(()) };
            races += 1;
            let is_race = [
                SqlState::UNIQUE_VIOLATION,
                SqlState::DUPLICATE_SCHEMA,
                SqlState::DUPLICATE_TABLE,
                SqlState::DUPLICATE_OBJECT,
            ];
            if races > MAX_RACES || !is_race.iter().any(|code| failure.is(code)) {
                return Err(failure);
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// The layout of the schema, 0 for an empty one.
    ///
    /// # Errors
    /// [`Failure`] when it is newer than this release.
    pub(crate) async fn layout(&self, client: &Client) -> Outcome<usize> {
        self.layout_up_to(LAYOUT, client).await
    }

    async fn layout_up_to(&self, newest: usize, client: &Client) -> Outcome<usize> {
        let found = client.query_typed(&self.qualify("SELECT number FROM swarm.layout"), &[]).await;
        let found = match found.map_err(Failure::from) {
            Err(failure) if failure.is(&SqlState::UNDEFINED_TABLE) => return Ok(0),
            found => found?,
        };
        let Some(row) = found.first() else { return Ok(0) };
        let number: i32 = row.try_get(0)?;
        let known = usize::try_from(number).ok().filter(|number| *number <= newest);
        known.ok_or_else(|| unknown(number.into()))
    }
}

/// This release does not know the layout with this number.
pub(crate) fn unknown(layout: i64) -> Failure {
    Failure::misconfigured(format!(
        "the records have layout {layout}, and this program knows those up to {LAYOUT}: \
         use the release that wrote them, or a later one"
    ))
}

#[cfg(test)]
mod tests {
    use swarm_postgres_testing::Server;
    use tokio_postgres::NoTls;

    use super::*;

    const CREATE: &str = "CREATE TABLE swarm.migrated (layout integer)";
    const INSERT: &str = "INSERT INTO swarm.migrated VALUES (2)";
    const FAIL: &str = "INSERT INTO swarm.migrated VALUES (3); SELECT 1 / 0";

    async fn client(server: &Server) -> Client {
        let (client, connection) = tokio_postgres::connect(&server.address(), NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    #[tokio::test]
    async fn missing_migrations_are_made_once_and_in_order_and_all_or_none() {
        let server = Server::start(&[]);
        let (one, other) = (client(&server).await, client(&server).await);
        let schema = Schema::named("desk");
        schema.migrate(&one, &[CREATE]).await.unwrap();
        let both = [CREATE, INSERT];
        let (first, second) =
            tokio::join!(schema.migrate(&one, &both), schema.migrate(&other, &both));
        first.and(second).unwrap();
        schema.migrate(&one, &[CREATE, INSERT, FAIL, INSERT]).await.unwrap_err();
        assert_eq!(server.psql("SELECT string_agg(layout::text, ',') FROM desk.migrated"), "2");
        assert_eq!(server.psql("SELECT number FROM desk.layout"), "2");
        // A release that knows the first layout only.
        schema.migrate(&other, &[CREATE]).await.unwrap_err();
        assert_eq!(server.psql("SELECT number FROM desk.layout"), "2");
    }
}
