//! The schema that holds the tables, and its layout: the tables, functions and the format of their values.

use std::borrow::Cow;

use swarm_core::store::TABLES;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

use crate::failure::{Failure, LAYOUT, NO_WRITES, Outcome};
use crate::sql::{self, Declared};

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
        format!("CREATE SCHEMA IF NOT EXISTS {quoted};\n{}", self.layout())
    }

    /// The statements that create the layout in a schema that is there.
    fn layout(&self) -> String {
        let layout = sql::layout(self.tables);
        self.qualify(&format!("{layout};\nINSERT INTO swarm.layout (number) VALUES ({LAYOUT});\n"))
            .into_owned()
    }

    /// Checks that the schema has the layout, and that the role has the rights on it to read and, if the store `writes`, to write.
    ///
    /// # Errors
    /// [`Failure`] when the layout is missing or another one, and with the rights that are missing.
    pub(crate) async fn check_rights(&self, client: &Client, writes: bool) -> Outcome<()> {
        const MISSING: &str = include_str!("queries/missing_rights.sql");
        let name = self.name.as_str();
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
        let Err(refused) = self.create(client).await else { return Ok(()) };
        // Another process may have created it at the same time.
        if self.is_created(client).await? {
            return Ok(());
        }
        Err(match refused {
            refused if refused.is(&SqlState::READ_ONLY_SQL_TRANSACTION) => Failure::misconfigured(
                format!("the schema {} is not created yet, and {NO_WRITES}", self.name),
            ),
            refused if refused.is(&SqlState::INSUFFICIENT_PRIVILEGE) => {
                Failure::misconfigured(format!(
                    "the schema {} is not created yet, and this role may not create it ({refused}): connect once as its \
                 owner",
                    self.name
                ))
            }
            other => other,
        })
    }

    /// Creates the schema, unless it is there, and its layout. All statements are one query, which makes everything or nothing. Of two
    /// processes, the second waits at its first statement until the first is done, and then fails.
    async fn create(&self, client: &Client) -> Outcome<()> {
        const EXISTS: &str = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
        // A role that may create tables in the schema need not be one that may create schemas.
        let known = client.query_typed(EXISTS, &[(&self.name, Type::NAME)]).await?;
        let statements = if known.is_empty() { self.statements() } else { self.layout() };
        Ok(client.batch_execute(&statements).await?)
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
            LAYOUT => Ok(true),
            other => Err(Failure::other_layout(other.into())),
        }
    }
}
