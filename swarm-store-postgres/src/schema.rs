//! The schema that holds the tables, and its layout: the tables, functions and the format of their values.

use std::borrow::Cow;
use std::time::Duration;

use swarm_core::store::TABLES;
use tokio::time::sleep;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::access::Access;
use crate::failure::{Failure, LAYOUT, NO_WRITES, Outcome};
use crate::sql::{self, Declared};

/// The number in a schema whose layout is not created yet.
const NOT_CREATED: i32 = 0;

/// Creates the table with the number of the layout, which is not created yet.
const LAYOUT_TABLE: &str = "CREATE TABLE IF NOT EXISTS swarm.layout (
    one boolean PRIMARY KEY DEFAULT true CHECK (one), number integer NOT NULL);
INSERT INTO swarm.layout (number) VALUES (0) ON CONFLICT DO NOTHING";

/// How often the first steps are tried again when another process takes them at the same time.
const MAX_RACES: u32 = 10;

/// A schema.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    name: String,
    /// Its name in statements, before its tables: quoted, and followed by a full stop.
    prefix: String,
    tables: Declared,
}

impl Schema {
    pub(crate) const DEFAULT: &'static str = "swarm";

    pub(crate) fn named(name: &str) -> Self {
        let prefix = format!("\"{}\".", name.replace('"', "\"\""));
        Self { name: name.to_owned(), prefix, tables: TABLES }
    }

    /// The same schema, with these tables in place of those of the record layer.
    pub(crate) fn with_tables(self, tables: Declared) -> Self {
        Self { tables, ..self }
    }

    pub(crate) fn tables(&self) -> Declared {
        self.tables
    }

    /// A statement, with this schema in place of `swarm.`.
    pub(crate) fn qualify<'a>(&self, sql: &'a str) -> Cow<'a, str> {
        match self.name == Self::DEFAULT {
            true => Cow::Borrowed(sql),
            false => Cow::Owned(sql.replace("swarm.", &self.prefix)),
        }
    }

    /// The statements that create the schema and its layout, to be run once, in one transaction.
    pub(crate) fn statements(&self) -> String {
        let quoted = self.prefix.trim_end_matches('.');
        let (table, layout) = (self.qualify(LAYOUT_TABLE), sql::layout(self.tables));
        let layout = self.qualify(&layout);
        let number = format!("UPDATE swarm.layout SET number = {LAYOUT}");
        format!(
            "CREATE SCHEMA IF NOT EXISTS {quoted};\n{table};\n{layout};\n{};\n",
            self.qualify(&number)
        )
    }

    /// Checks that the schema has the layout, and that the role has the rights on it that the store needs.
    ///
    /// # Errors
    /// [`Failure`] when the layout is missing or another one, and with the rights that are missing.
    pub(crate) async fn check_rights(&self, client: &Client, access: Access) -> Outcome<()> {
        const MISSING: &str = include_str!("queries/missing_rights.sql");
        let (name, writes) = (self.name.as_str(), access == Access::ReadWrite);
        let args: [(&(dyn ToSql + Sync), Type); 2] = [(&name, Type::TEXT), (&writes, Type::BOOL)];
        let rows = client.query_typed(MISSING, &args).await?;
        let missing: Option<String> = match rows.first() {
            Some(row) => row.try_get(0)?,
            None => None,
        };
        // The layout cannot be read without these rights, and nothing is missing of a schema that is not there.
        if let Some(missing) = missing {
            let text = format!("this role lacks rights, grant it: {missing}");
            return Err(Failure::misconfigured(text));
        }
        match self.is_created(client).await? {
            true => Ok(()),
            false => {
                let text = format!("the schema {} is not created yet", self.name);
                Err(Failure::misconfigured(text))
            }
        }
    }

    /// Creates the schema and its layout if there is none. Writes nothing to a schema that has it, so a role that may
    /// not create tables can use it.
    ///
    /// # Errors
    /// [`Failure`], with nothing written, when the schema has another layout, or the role may not create it.
    pub(crate) async fn create_if_missing(&self, client: &Client) -> Outcome<()> {
        if self.is_created(client).await? {
            return Ok(());
        }
        self.create(client, &sql::layout(self.tables)).await.map_err(|failure| match failure {
            refused if refused.is(&SqlState::READ_ONLY_SQL_TRANSACTION) => Failure::misconfigured(
                format!("the schema {} is not created yet, and {NO_WRITES}", self.name),
            ),
            refused if refused.is(&SqlState::INSUFFICIENT_PRIVILEGE) => Failure::misconfigured(format!(
                "the schema {} is not created yet, and this role may not create it ({refused}): connect once as its \
                 owner",
                self.name
            )),
            other => other,
        })
    }

    /// Creates the layout by these statements, all of it or nothing.
    async fn create(&self, client: &Client, statements: &str) -> Outcome<()> {
        self.prepare(client).await?;
        let created = self.create_prepared(client, statements).await;
        if created.is_err() {
            // The connection may be closed already.
            let _ = client.batch_execute("ROLLBACK").await;
        }
        created
    }

    async fn create_prepared(&self, client: &Client, statements: &str) -> Outcome<()> {
        // Another process that creates it waits here, and then finds it.
        let begin =
            "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE swarm.layout IN EXCLUSIVE MODE";
        client.batch_execute(&self.qualify(begin)).await?;
        if !self.is_created(client).await? {
            let number = format!("UPDATE swarm.layout SET number = {LAYOUT}");
            client.batch_execute(&self.qualify(statements)).await?;
            client.batch_execute(&self.qualify(&number)).await?;
        }
        Ok(client.batch_execute("COMMIT").await?)
    }

    /// Creates the schema and the table with the number of the layout, where they are missing. Two processes
    /// that do it at the same time may disturb each other.
    async fn prepare(&self, client: &Client) -> Outcome<()> {
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
            let made = client.batch_execute(&(create + &self.qualify(LAYOUT_TABLE))).await;
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

    /// Returns whether the schema has the layout; false if it has none yet.
    ///
    /// # Errors
    /// [`Failure`] when it has another layout.
    pub(crate) async fn is_created(&self, client: &Client) -> Outcome<bool> {
        let found = client.query_typed(&self.qualify("SELECT number FROM swarm.layout"), &[]).await;
        let found = match found.map_err(Failure::from) {
            Err(failure) if failure.is(&SqlState::UNDEFINED_TABLE) => return Ok(false),
            found => found?,
        };
        let Some(row) = found.first() else { return Ok(false) };
        match row.try_get(0)? {
            NOT_CREATED => Ok(false),
            LAYOUT => Ok(true),
            other => Err(Failure::other_layout(other.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use swarm_postgres_testing::Server;
    use tokio_postgres::NoTls;

    use super::*;

    async fn client(server: &Server) -> Client {
        let (client, connection) = tokio_postgres::connect(&server.address(), NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    #[tokio::test]
    async fn layout_is_created_once_and_as_a_whole() {
        let server = Server::start(&[]);
        let (one, other) = (client(&server).await, client(&server).await);
        let schema = Schema::named("desk");
        let create =
            "CREATE TABLE swarm.created (number integer); INSERT INTO swarm.created VALUES (1)";
        schema.create(&one, &format!("{create}; SELECT 1 / 0")).await.unwrap_err();
        assert_eq!(server.psql("SELECT number FROM desk.layout"), "0");
        let (first, second) =
            tokio::join!(schema.create(&one, create), schema.create(&other, create));
        first.and(second).unwrap();
        assert_eq!(server.psql("SELECT string_agg(number::text, ',') FROM desk.created"), "1");
        assert_eq!(server.psql("SELECT number FROM desk.layout"), LAYOUT.to_string());
    }

    #[tokio::test]
    async fn other_layout_is_refused_and_unchanged() {
        let server = Server::start(&[]);
        let client = client(&server).await;
        let schema = Schema::named("desk");
        schema.create(&client, "").await.unwrap();
        server.psql("UPDATE desk.layout SET number = 6");
        schema.create(&client, "CREATE TABLE swarm.created ()").await.unwrap_err();
        assert_eq!(server.psql("SELECT number FROM desk.layout"), "6");
        assert_eq!(server.psql("SELECT to_regclass('desk.created') IS NULL"), "t");
    }
}
