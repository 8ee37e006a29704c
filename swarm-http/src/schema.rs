//! How rows of the route table refer to schemas. The reference has those that rows refer to, and no other.
//!
//! A row names what it takes by the type that is read: the fields of a body by their form (`Route::takes`), the parameters of
//! path and query as `SubjectId::SCHEMA`. What the front end alone reads or writes is declared there with [`schema!`].

use std::borrow::Cow;

use schemars::JsonSchema;
use swarm_core::domain::NamedSchema;

/// A reference to a schema.
#[derive(Clone, Copy)]
pub(crate) enum SchemaRef {
    /// Of a value of the core, whose schema [`wire::schema`](swarm_core::wire::schema) has.
    Core(fn() -> Cow<'static, str>),
    /// Declared with what is read or written.
    Declared(NamedSchema),
}

impl SchemaRef {
    /// The name of the schema. No type that rows refer to has parameters, from which its name would be made.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Core(name) => match name() {
                Cow::Borrowed(name) => name,
                Cow::Owned(_) => "",
            },
            Self::Declared(schema) => schema.name,
        }
    }

    /// The schema, unless it is one of the core.
    pub(crate) fn declared(self) -> Option<NamedSchema> {
        match self {
            Self::Core(_) => None,
            Self::Declared(schema) => Some(schema),
        }
    }
}

/// A value of the core with a schema.
pub(crate) trait HasSchema {
    /// The reference to its schema.
    const SCHEMA: SchemaRef;
}

impl<T: JsonSchema> HasSchema for T {
    const SCHEMA: SchemaRef = SchemaRef::Core(T::schema_name);
}

/// Declares a schema: its topic in the reference, its name, and the schema, or the type that is serialized.
macro_rules! schema {
    ($topic:literal, $name:literal, of $type:ty) => {
        $crate::schema::schema!(@declare $topic, $name, swarm_core::wire::schema::of::<$type>().1)
    };
    ($topic:literal, $name:literal, $schema:tt) => {
        $crate::schema::schema!(
            @declare $topic,
            $name,
            swarm_core::wire::schema::json(schemars::json_schema!($schema).as_value())
        )
    };
    (@declare $topic:literal, $name:literal, $schema:expr) => {
        $crate::schema::SchemaRef::Declared(swarm_core::domain::NamedSchema::new(
            $topic,
            $name,
            || $schema,
        ))
    };
}

pub(crate) use schema;
