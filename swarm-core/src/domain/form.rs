//! Forms: the fields of requests, declared once. A declaration yields the struct, its reader and its JSON Schema.
//!
//! [`form!`] declares a struct. Each field is named as in JSON, and says by its type what it may hold: a type that is a
//! [`Value`] is required, an `Option` of one may be absent, and in an `Option` of an `Option` `null` differs from absent.
//! [`value!`] declares what a new type of field holds.

use super::Invalid;
use super::json::{Json, Object};

/// A schema with a name in the reference, by which others refer to it.
#[derive(Clone, Copy, Debug)]
pub struct NamedSchema {
    /// The topic of the reference that it belongs to.
    pub topic: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Returns the schema (JSON Schema, 2020-12).
    pub schema: fn() -> Json,
}

impl NamedSchema {
    /// A schema of this topic, with this name.
    pub const fn new(topic: &'static str, name: &'static str, schema: fn() -> Json) -> Self {
        Self { topic, name, schema }
    }
}

/// What a request has, as its schema describes it: all fields, or a part of them.
pub trait Described {
    /// The name of its schema in the reference; empty for a part of others.
    const NAME: &'static str;

    /// The topic of the reference that its schema belongs to; empty for a part of others.
    const TOPIC: &'static str;

    /// Adds the fields to a schema.
    fn describe(schema: &mut FormSchema);

    /// Returns its JSON Schema (2020-12).
    fn schema() -> Json {
        let mut schema = FormSchema::default();
        Self::describe(&mut schema);
        schema.into_json()
    }

    /// Returns its schema, and those that it refers to and that no answer has.
    fn named() -> Vec<NamedSchema> {
        let mut schema = FormSchema::default();
        Self::describe(&mut schema);
        let own = NamedSchema::new(Self::TOPIC, Self::NAME, Self::schema);
        std::iter::once(own).chain(schema.named).collect()
    }
}

/// A group of fields that is read: those of a request, or a part of them.
pub trait Form: Described + Sized {
    /// Reads the fields in their order, and leaves all others.
    ///
    /// # Errors
    /// [`Invalid`], naming the first field that breaks its rule.
    fn read(fields: &mut Object) -> Result<Self, Invalid>;
}

/// What a field may hold.
pub(crate) trait Value: Sized {
    /// The schema that its own one refers to, if no answer has that.
    const NAMED: Option<NamedSchema> = None;

    /// Takes the field of this name; `None` when it is absent or `null`.
    fn take(fields: &mut Object, name: &'static str) -> Result<Option<Self>, Invalid>;

    /// The JSON Schema of the value.
    fn schema() -> Json;
}

/// Implements [`Value`] for a type with a function that takes it, and its schema.
///
/// ```text
/// value!(Day, |fields, name| parsed(fields, name, |text| Day::parse(&text)), FormSchema::reference("Day"));
/// ```
///
/// Where a few fields of a type are read by another rule, `for` declares a wrapper that is read by that rule and then
/// converted into the type:
///
/// ```text
/// value!(AnyDay for Day, |fields, name| …, …);
/// ```
///
/// A schema with a name that only requests have is declared as `named NamedSchema::new(…)`.
macro_rules! value {
    ($(#[$meta:meta])* $name:ident for $type:ty, $take:expr, $schema:expr) => {
        $(#[$meta])*
        struct $name($type);

        $crate::domain::form::value!($name, $take, $schema);

        impl From<$name> for $type {
            fn from(value: $name) -> Self {
                value.0
            }
        }
    };
    ($type:ty, $take:expr, named $named:expr) => {
        $crate::domain::form::value!(
            @impl $type,
            $take,
            $crate::domain::form::FormSchema::reference($named.name),
            const NAMED: Option<$crate::domain::form::NamedSchema> = Some($named);
        );
    };
    ($type:ty, $take:expr, $schema:expr) => {
        $crate::domain::form::value!(@impl $type, $take, $schema,);
    };
    (@impl $type:ty, $take:expr, $schema:expr, $($named:item)?) => {
        impl $crate::domain::form::Value for $type {
            $($named)?

            fn take(
                fields: &mut $crate::domain::json::Object,
                name: &'static str,
            ) -> Result<Option<Self>, $crate::domain::Invalid> {
                let take: $crate::domain::form::Take<Self> = $take;
                take(fields, name)
            }

            fn schema() -> $crate::domain::json::Json {
                $schema
            }
        }
    };
}

/// Takes the field of this name; see [`Value::take`].
pub(crate) type Take<T> = fn(&mut Object, &'static str) -> Result<Option<T>, Invalid>;

value!(String, Object::text_if_any, of_type("string"));
value!(bool, Object::bool_if_any, of_type("boolean"));
value!(
    u32,
    |fields, name| {
        let invalid = || Invalid::new(name, "must be at most 1,000,000");
        let bounded = |number| u32::try_from(number).ok().filter(|number| *number <= 1_000_000);
        let number = fields.whole_if_any(name)?;
        number.map(|number| bounded(number).ok_or_else(invalid)).transpose()
    },
    number_schema("integer", 0, 1_000_000)
);
value!(f64, Object::number_if_any, of_type("number"));
value!(Vec<String>, |fields, name| fields.texts(name).map(Some), list_of(of_type("string")));
value!(
    Json,
    |fields, name| fields.take(name).map(|value| value.free(name)).transpose(),
    [("not", of_type("null"))].into()
);

/// The presence of a field, with any value but `null`.
pub(super) struct Given;

value!(Given, |fields, name| Ok(fields.take(name).map(|_| Self)), Json::Object(Object::default()));

/// A field of a form: a value that is required, an `Option` of one, or an `Option` of that, in which `null` differs from
/// absent.
pub(crate) trait Field: Sized {
    type Value: Value;
    const IS_REQUIRED: bool = false;
    const IS_NULLABLE: bool = true;

    /// Takes the field of this name.
    fn of(fields: &mut Object, name: &'static str) -> Result<Self, Invalid>;

    /// Checks the field of this name, and leaves it.
    fn check(fields: &Object, name: &'static str) -> Result<(), Invalid> {
        let alone = fields.members().filter(|(field, _)| *field == name);
        let alone = alone.map(|(field, value)| (field.to_owned(), value.clone()));
        Self::of(&mut alone.collect(), name).map(drop)
    }
}

impl<T: Value> Field for T {
    type Value = T;
    const IS_REQUIRED: bool = true;
    const IS_NULLABLE: bool = false;

    fn of(fields: &mut Object, name: &'static str) -> Result<Self, Invalid> {
        T::take(fields, name)?.ok_or_else(|| Invalid::missing(name))
    }
}

impl<T: Value> Field for Option<T> {
    type Value = T;

    fn of(fields: &mut Object, name: &'static str) -> Result<Self, Invalid> {
        T::take(fields, name)
    }
}

impl<T: Value> Field for Option<Option<T>> {
    type Value = T;

    fn of(fields: &mut Object, name: &'static str) -> Result<Self, Invalid> {
        let is_given = fields.has(name);
        T::take(fields, name).map(|value| is_given.then_some(value))
    }
}

/// A field that must be given, but may be `null`.
pub(super) struct Nullable<T>(Option<T>);

impl<T: Value> Field for Nullable<T> {
    type Value = T;
    const IS_REQUIRED: bool = true;

    fn of(fields: &mut Object, name: &'static str) -> Result<Self, Invalid> {
        let value = <Option<Option<T>>>::of(fields, name)?;
        value.map(Self).ok_or_else(|| Invalid::missing(name))
    }
}

impl<T> From<Nullable<T>> for Option<T> {
    fn from(value: Nullable<T>) -> Self {
        value.0
    }
}

/// The JSON Schema of a form, under construction.
#[derive(Debug, Default)]
pub struct FormSchema {
    /// The description of the form in its schema.
    pub(crate) description: &'static str,
    /// The error if no optional field is given; empty if that is allowed. While it is set, one of the fields that are added must
    /// be given: `null` counts as absent.
    pub(super) at_least_one: &'static str,
    /// The text of an example.
    pub(crate) example: &'static str,
    required: Vec<&'static str>,
    /// The fields of which one must be given.
    alternatives: Vec<&'static str>,
    properties: Vec<(&'static str, Json)>,
    /// The schemas that fields refer to, and that no answer has.
    named: Vec<NamedSchema>,
}

impl FormSchema {
    /// Returns the reference to the schema of this name.
    pub fn reference(name: &str) -> Json {
        [("$ref", Json::Text(format!("#/components/schemas/{name}")))].into()
    }

    /// Adds a field of the type `F`, which `help` describes unless it is empty.
    pub(crate) fn add<F: Field>(&mut self, name: &'static str, help: &str) {
        self.named.extend(F::Value::NAMED);
        let schema = F::Value::schema();
        // An optional boolean is false when it is absent.
        let is_condition = !F::IS_REQUIRED && schema == of_type("boolean");
        let schema = if F::IS_NULLABLE { or_null(schema) } else { schema };
        let mut schema = schema.into_object();
        if !help.is_empty() {
            schema.set("description", help.into());
        }
        if is_condition {
            schema.set("default", Json::Bool(false));
        }
        if !self.at_least_one.is_empty() {
            self.alternatives.push(name);
        }
        self.push(name, F::IS_REQUIRED, schema);
    }

    /// Adds a required field that is read otherwise than as a [`Value`], with this schema.
    pub(crate) fn require(&mut self, name: &'static str, schema: Json, help: &str) {
        let mut schema = schema.into_object();
        if !help.is_empty() {
            schema.set("description", help.into());
        }
        self.push(name, true, schema);
    }

    /// Adds a required field with a schema that no answer has.
    pub(crate) fn require_named(&mut self, name: &'static str, schema: NamedSchema) {
        self.named.push(schema);
        self.require(name, Self::reference(schema.name), "");
    }

    /// Adds a field that may be absent or null, and that is read otherwise than as a [`Value`], with this schema.
    pub(crate) fn allow(&mut self, name: &'static str, schema: Json) {
        self.push(name, false, or_null(schema).into_object());
    }

    fn push(&mut self, name: &'static str, is_required: bool, schema: Object) {
        if is_required {
            self.required.push(name);
        }
        self.properties.push((name, Json::Object(schema)));
    }

    fn into_json(self) -> Json {
        let mut schema = of_type("object").into_object();
        if !self.description.is_empty() {
            schema.set("description", self.description.into());
        }
        if !self.required.is_empty() {
            schema.set("required", self.required.iter().copied().map(Json::from).collect());
        }
        if !self.alternatives.is_empty() {
            let required: f64 = self.required.iter().map(|_| 1.0).sum();
            schema.set("minProperties", (required + 1.0).into());
            // They are not all null. Of `properties` here, generators of clients would make a model.
            let pattern = format!("^({})$", self.alternatives.join("|"));
            let all_null = Json::from([(&*pattern, of_type("null"))]);
            schema.set("not", [("patternProperties", all_null)].into());
        }
        schema.set("properties", self.properties.into_iter().collect());
        if !self.example.is_empty() {
            // No schema allows `null`, so the tests of the examples find a text that is no JSON.
            let example = Json::read(self.example.as_bytes()).unwrap_or(Json::Null);
            schema.set("examples", [example].into_iter().collect());
        }
        Json::Object(schema)
    }
}

/// The schema of all values of a type of JSON.
pub(super) fn of_type(name: &str) -> Json {
    [("type", name.into())].into()
}

/// The schema of a number of this type from `min` to `max`.
pub(super) fn number_schema(name: &str, min: i32, max: i32) -> Json {
    let [min, max] = [min, max].map(|bound| f64::from(bound).into());
    [("type", name.into()), ("minimum", min), ("maximum", max)].into()
}

/// The schema of a list.
pub(super) fn list_of(items: Json) -> Json {
    [("type", "array".into()), ("items", items)].into()
}

/// The schema of one of these texts.
pub(super) fn one_of<const N: usize>(texts: [&str; N]) -> Json {
    [("enum", texts.into_iter().map(Json::from).collect())].into()
}

/// The schema of a text of so many characters.
pub(super) fn text_schema(min: u32, max: u32) -> Json {
    let min = (min > 0).then(|| ("minLength", f64::from(min).into()));
    let max = ("maxLength", f64::from(max).into());
    [("type", "string".into())].into_iter().chain(min).chain([max]).collect()
}

/// The schema of the same values and `null`.
fn or_null(schema: Json) -> Json {
    let mut schema = schema.into_object();
    if schema.has("$ref") {
        let either = [Json::Object(schema), of_type("null")];
        return [("anyOf", either.into_iter().collect())].into();
    }
    for (keyword, null) in [("type", "null".into()), ("enum", Json::Null)] {
        match schema.get_mut(keyword) {
            Some(Json::List(all)) => all.push(null),
            Some(one) => *one = [one.clone(), null].into_iter().collect(),
            None => {}
        }
    }
    Json::Object(schema)
}

/// Reads an object with the fields of a form alone.
pub(super) fn nested<T: Form>(json: Json) -> Result<T, Invalid> {
    json.into_object().read_all(T::read)
}

/// Takes a field whose text `parse` parses; its error names the field.
pub(super) fn parsed<T>(
    fields: &mut Object,
    name: &'static str,
    parse: impl FnOnce(String) -> Result<T, Invalid>,
) -> Result<Option<T>, Invalid> {
    let value = fields.text_if_any(name)?.map(parse).transpose();
    value.map_err(|invalid| Invalid { field: name, ..invalid })
}

/// Declares forms: structs that are read from JSON objects. The order of the fields is the order in which they are read.
///
/// ```text
/// pub struct Order "Order" in "orders" {                  // the name of its schema and its topic, unless it is a part of others
///     pub id: MemberId = "memberId": "Who orders.",       // the name of the field in JSON; its description, if it needs one
///     pub lens: Option<Lens> = "lens",                    // may be absent or null
///     pub blind: bool = "blind" default(false),           // has this value if it is absent or null
///     pub title: String = "title" from Bounded<1, 200>,   // is read as another type, and converted
///     pub patch: MemberPatch = flatten,                   // a form whose fields are beside these
/// }
/// description "What the schema says of the form.";
/// checks_first "resolvesAt": Option<String>;              // the types of fields that are checked before the first is read
/// at_least_one "must have name or lens";                  // the error if it is equal to its `Default`
/// check Self::check;                                      // is called with what was read
/// example r#"{"memberId": "ada"}"#;
/// ```
///
/// Texts of the schema are also the documentation of struct and fields. The order of the fields is also that of the record that is
/// written. Where another order decides which of two errors is reported, `checks_first` names the fields that are checked first.
macro_rules! form {
    (@type $type:ty) => { $type };
    (@type $type:ty, $from:ty) => { $from };
    (@read $fields:ident flatten ($type:ty)) => {
        <$type as $crate::domain::form::Form>::read($fields)?
    };
    (@read $fields:ident $name:literal ($type:ty)) => {
        <$type as $crate::domain::form::Field>::of($fields, $name)?.into()
    };
    (@read $fields:ident $name:literal ($type:ty) $default:expr) => {
        <Option<$type> as $crate::domain::form::Field>::of($fields, $name)?
            .map_or_else(|| $default, Into::into)
    };
    (@describe $schema:ident flatten ($type:ty), $help:expr) => {
        <$type as $crate::domain::form::Described>::describe($schema)
    };
    (@describe $schema:ident $name:literal ($type:ty), $help:expr) => {
        $schema.add::<$type>($name, $help)
    };
    (@describe $schema:ident $name:literal ($type:ty) $default:expr, $help:expr) => {
        $schema.add::<Option<$type>>($name, $help)
    };
    ($(
        $(#[$meta:meta])*
        pub struct $form:ident $($title:literal in $topic:literal)? {
            $(
                $(#[$field_meta:meta])*
                pub $field:ident: $type:ty = $name:tt
                    $(default($default:expr))? $(from $from:ty)? $(: $help:literal)?
            ),* $(,)?
        }
        $(description $description:literal;)?
        $(checks_first $($first:literal: $first_type:ty),*;)?
        $(at_least_one $at_least_one:literal;)?
        $(check $check:expr;)?
        $(example $example:literal;)?
    )+) => {$(
        $(#[$meta])*
        $(
            #[doc = ""]
            #[doc = $description]
        )?
        pub struct $form {
            $($(#[$field_meta])* $(#[doc = $help])? pub $field: $type,)*
        }

        impl $form {
            /// Reads the fields in their order, and leaves all others.
            ///
            /// # Errors
            /// [`Invalid`](crate::Invalid), naming the first field that breaks its rule.
            pub fn read(
                fields: &mut $crate::domain::json::Object,
            ) -> Result<Self, $crate::domain::Invalid> {
                $($(<$first_type as $crate::domain::form::Field>::check(fields, $first)?;)*)?
                let form = Self {
                    $($field: form!(
                        @read fields $name (form!(@type $type $(, $from)?)) $($default)?
                    ),)*
                };
                $(if form == Self::default() {
                    return Err($crate::domain::Invalid::new("body", $at_least_one));
                })?
                $(
                    let check: fn(&Self) -> Result<(), $crate::domain::Invalid> = $check;
                    check(&form)?;
                )?
                Ok(form)
            }
        }

        impl $crate::domain::form::Form for $form {
            fn read(
                fields: &mut $crate::domain::json::Object,
            ) -> Result<Self, $crate::domain::Invalid> {
                Self::read(fields)
            }
        }

        impl $crate::domain::form::Described for $form {
            const NAME: &'static str = concat!($($title)?);
            const TOPIC: &'static str = concat!($($topic)?);

            fn describe(schema: &mut $crate::domain::form::FormSchema) {
                $(schema.at_least_one = $at_least_one;)?
                $(form!(
                    @describe schema $name (form!(@type $type $(, $from)?)) $($default)?,
                    concat!($($help)?)
                );)*
                $(schema.description = $description;)?
                $(schema.example = $example;)?
            }
        }
    )+};
}

pub(super) use {form, value};

#[cfg(test)]
#[allow(clippy::unwrap_used, unreachable_pub, reason = "a test panics; a form is public")]
mod tests {
    use super::*;
    use crate::domain::json::write;
    use crate::domain::text::Bounded;

    form! {
        #[derive(Debug, Default, PartialEq)]
        pub struct Change {
            pub quorum: Option<u32> = "quorum": "How many.",
            pub blind: bool = "blind" default(false),
        }
        at_least_one "must have quorum or blind";

        #[derive(Debug, PartialEq)]
        pub struct Order "Order" in "orders" {
            pub name: String = "name" from Bounded<1, 3>,
            pub value: Option<f64> = "value" from Nullable<f64>,
            pub limit: Option<Option<f64>> = "limit",
            pub change: Change = flatten,
        }
        description "What it is for.";
        checks_first "quorum": Option<u32>;
        check |order| match order.name == "no" {
            true => Err(Invalid::new("name", "must not be no")),
            false => Ok(()),
        };
        example r#"{"name": "a", "value": 1, "blind": true}"#;
    }

    fn read(text: &str) -> Result<Order, String> {
        let fields = Json::read(text.as_bytes()).unwrap().into_object();
        fields.read_all(Order::read).map_err(|invalid| invalid.to_string())
    }

    #[test]
    fn forms_are_read() {
        let order = |limit, quorum, blind| Order {
            name: "a".to_owned(),
            value: None,
            limit,
            change: Change { quorum, blind },
        };
        let blind = read(r#"{"blind": true, "value": null, "name": "a"}"#);
        assert_eq!(blind, Ok(order(None, None, true)));
        assert_eq!(
            read(r#"{"name": "a", "value": null, "limit": null, "quorum": 3}"#),
            Ok(order(Some(None), Some(3), false))
        );
    }

    #[test]
    fn first_error_in_the_declared_order_is_reported() {
        for (text, error) in [
            (r#"{"quorum": "x"}"#, "quorum must be a number"),
            (r#"{"quorum": 1}"#, "name is missing"),
            (r#"{"name": "abcd"}"#, "name must have 1 to 3 characters"),
            (r#"{"name": "a", "blind": 1}"#, "value is missing"),
            (r#"{"name": "a", "value": 1, "blind": 1}"#, "blind must be true or false"),
            (r#"{"name": "no", "value": 1}"#, "body must have quorum or blind"),
            (r#"{"name": "no", "value": 1, "quorum": 1}"#, "name must not be no"),
            (
                r#"{"name": "a", "value": 1, "quorum": 1, "x": 1}"#,
                "body must not have the unknown field \"x\"",
            ),
        ] {
            assert_eq!(read(text), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn schemas_say_what_is_read() {
        let expected = r#"{"type":"object","description":"What it is for.","required":["name","value"],"minProperties":3,"not":{"patternProperties":{"^(quorum|blind)$":{"type":"null"}}},"properties":{"name":{"type":"string","minLength":1,"maxLength":3},"value":{"type":["number","null"]},"limit":{"type":["number","null"]},"quorum":{"type":["integer","null"],"minimum":0,"maximum":1000000,"description":"How many."},"blind":{"type":["boolean","null"],"default":false}},"examples":[{"name":"a","value":1,"blind":true}]}"#;
        assert_eq!(write(&Order::schema()), expected);
    }
}
