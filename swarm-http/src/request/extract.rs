//! What handlers take from a request, by the types of their parameters: `async fn excuse(request, id: SessionId, order:
//! Attributed<ExcuseOrder>)`. Each reads its part of the request before the handler runs, and describes that part in the row of
//! the route, so that a row cannot describe another body or path than its handler reads.

use swarm_core::Refusal;
use swarm_core::domain::{
    Actor, Attribution, DeliveryId, Form, Invalid, MemoId, MessageId, NoteAlone, Noted, SessionId,
    SubjectId, TakeId,
};
use swarm_core::json::{Json, Object};
use swarm_core::rules::shape_fault;
use swarm_core::wire::RequestError;

use crate::response::ApiError;
use crate::schema::HasSchema as _;

use super::context::RequestContext;
use super::route::{Extract, Route};

macro_rules! of_path {
    ($($id:ty: $read:ident;)+) => {
        $(impl Extract for $id {
            fn describe(route: Route) -> Route {
                route.part(Self::SCHEMA)
            }

            fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
                request.$read()
            }
        })+
    };
}

// The first parameter of the path.
of_path! {
    TakeId: take_id;
    SessionId: session_id;
    MemoId: memo_id;
    MessageId: message_id;
    DeliveryId: delivery_id;
    SubjectId: subject_id;
}

/// The calling operator.
impl Extract for Actor {
    fn describe(route: Route) -> Route {
        route
    }

    fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
        request.by().cloned()
    }
}

/// The fields of a body, of which others are ignored. The handler says which error a broken rule is.
pub(crate) struct Fields<T>(pub(crate) Result<T, Invalid>);

impl<T: Form + Send + 'static> Extract for Fields<T> {
    fn describe(route: Route) -> Route {
        route.takes::<T>()
    }

    fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
        Ok(Self(T::read(&mut request.fields())))
    }
}

/// The body of a member's request. The error for a body without fields at the top level, such as an array, says so.
pub(crate) struct MemberOrder<T>(pub(crate) T);

impl<T: Form + Send + 'static> Extract for MemberOrder<T> {
    fn describe(route: Route) -> Route {
        route.takes::<T>()
    }

    fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
        let fields = T::read(&mut request.fields());
        let fault = |invalid: Invalid| request.missing_fault(&invalid).unwrap_or(invalid);
        Ok(fields.map(Self).map_err(fault).map_err(RequestError::InvalidMemberRequest)?)
    }
}

/// Declares the bodies of the requests to one of the two interfaces' operators: one with the fields of a form, and one without
/// fields. A broken rule is an `InvalidRequest` of that interface.
macro_rules! orders {
    ($refusal:ident, $(#[$of_order:meta])* $order:ident, $(#[$of_none:meta])* $none:ident) => {
        $(#[$of_order])*
        pub(crate) struct $order<T>(pub(crate) T);

        impl<T: Form + Send + 'static> Extract for $order<T> {
            fn describe(route: Route) -> Route {
                route.takes::<T>()
            }

            fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
                Ok(request.object(T::read).map(Self).map_err($refusal::InvalidRequest)?)
            }
        }

        $(#[$of_none])*
        pub(crate) struct $none;

        impl Extract for $none {
            fn describe(route: Route) -> Route {
                route.no_fields()
            }

            fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
                Ok(request.object(|_| Ok(Self)).map_err($refusal::InvalidRequest)?)
            }
        }
    };
}

#[cfg(feature = "committee")]
pub(crate) use orders;

orders!(
    Refusal,
    /// The body of an operator's request.
    Order,
    /// The body of an operator's request that has no field.
    NoFields
);

/// The body of an operator's request with a note on it, and who sent it.
pub(crate) struct Attributed<T>(pub(crate) T, pub(crate) Attribution);

impl<T: Form + Send + 'static> Extract for Attributed<T> {
    fn describe(route: Route) -> Route {
        route.takes::<Noted<T>>()
    }

    fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
        let by = request.by()?.clone();
        let Order(Noted { note, request }) = Order::extract(request)?;
        Ok(Self(request, Attribution { by, note }))
    }
}

/// The sender of an operator's request, and the note, which is its only field.
impl Extract for Attribution {
    fn describe(route: Route) -> Route {
        route.takes::<NoteAlone>()
    }

    fn extract(request: &mut RequestContext) -> Result<Self, ApiError> {
        let by = request.by()?.clone();
        let Order(NoteAlone { note }) = Order::extract(request)?;
        Ok(Self { by, note })
    }
}

impl RequestContext {
    /// The members of the body's object.
    pub(crate) fn fields(&mut self) -> Object {
        std::mem::replace(&mut self.body, Json::Null).into_object()
    }

    /// Requires an object without unknown fields, so that a misspelled field is not silently ignored (API.md, 7.1).
    pub(crate) fn object<T>(
        &mut self,
        read: impl FnOnce(&mut Object) -> Result<T, Invalid>,
    ) -> Result<T, Invalid> {
        match &self.body {
            Json::Object(_) => self
                .fields()
                .read_all(read)
                .map_err(|invalid| self.wrapping_fault(&invalid).unwrap_or(invalid)),
            _ => Err(Invalid::new("body", "must be a JSON object")),
        }
    }

    /// The fault of a body that lacks a field because it has none at the top level.
    fn missing_fault(&self, invalid: &Invalid) -> Option<Invalid> {
        let is_missing = *invalid == Invalid::missing(invalid.field);
        let body = is_missing.then(|| Json::read(&self.bytes).ok()).flatten()?;
        shape_fault(&body, invalid.field)
    }

    /// The fault of a body whose one member has the field that is missing.
    fn wrapping_fault(&self, invalid: &Invalid) -> Option<Invalid> {
        let body = Json::read(&self.bytes).ok()?;
        let Json::Object(object) = &body else { return None };
        let mut members = object.members().map(|(_, value)| value);
        let inner = match (members.next()?, members.next()) {
            (Json::Object(inner), None) => inner,
            (Json::List(items), None) => match items.as_slice() {
                [Json::Object(inner)] => inner,
                _ => return None,
            },
            _ => return None,
        };
        let mut inner = inner.members();
        let has_field = inner.any(|(key, value)| key == invalid.field && *value != Json::Null);
        let is_wrapped = *invalid == Invalid::missing(invalid.field) && has_field;
        shape_fault(&body, invalid.field).filter(|_| is_wrapped)
    }
}
