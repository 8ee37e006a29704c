//! The spans that are open, and which of them a thread is in.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sharded_slab::Slab;
use tracing::Metadata;
use tracing::span::Id;
use tracing_core::span::Current;

thread_local! {
    /// The spans that this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// The spans that are open, by their ids, which are one more than their places.
#[derive(Default)]
pub(super) struct OpenSpans(Slab<OpenSpan>);

struct OpenSpan {
    metadata: &'static Metadata<'static>,
    parent: Option<Id>,
    /// As they stand in a line.
    fields: Mutex<String>,
    handles: AtomicUsize,
}

impl OpenSpans {
    pub(super) fn open(
        &self,
        metadata: &'static Metadata<'static>,
        parent: Option<Id>,
        fields: String,
    ) -> Id {
        // A span that is open keeps the one around it open.
        let parent = parent.inspect(|parent| self.share(parent));
        let (fields, handles) = (Mutex::new(fields), AtomicUsize::new(1));
        let place = self.0.insert(OpenSpan { metadata, parent, fields, handles });
        // Where there is no place left, a span of which nothing is known.
        Id::from_u64(place.map_or(u64::MAX, |place| place as u64 + 1))
    }

    /// Counts one handle more.
    pub(super) fn share(&self, id: &Id) {
        if let Some(span) = self.0.get(place(id)) {
            span.handles.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts one handle less; answers whether it was the last.
    pub(super) fn close(&self, id: &Id) -> bool {
        let Some(span) = self.0.get(place(id)) else { return false };
        if span.handles.fetch_sub(1, Ordering::AcqRel) > 1 {
            return false;
        }
        let parent = span.parent.clone();
        drop(span);
        self.0.remove(place(id));
        if let Some(parent) = parent {
            self.close(&parent);
        }
        true
    }

    /// Says more of a span.
    pub(super) fn add(&self, id: &Id, more: &str) {
        let Some(span) = self.0.get(place(id)) else { return };
        let mut fields = span.fields.lock().unwrap_or_else(PoisonError::into_inner);
        if !fields.is_empty() {
            fields.push(' ');
        }
        fields.push_str(more);
    }

    /// Writes a span as a line has it, and those around it before it.
    pub(super) fn write(&self, id: &Id, line: &mut String) {
        let Some(span) = self.0.get(place(id)) else { return };
        if let Some(parent) = &span.parent {
            self.write(parent, line);
        }
        line.push_str(span.metadata.name());
        let fields = span.fields.lock().unwrap_or_else(PoisonError::into_inner);
        if !fields.is_empty() {
            line.push('{');
            line.push_str(&fields);
            line.push('}');
        }
        line.push(':');
    }

    /// The innermost span that this thread is in.
    pub(super) fn current(&self) -> Current {
        let known = entered().and_then(|id| Some((self.0.get(place(&id))?.metadata, id)));
        known.map_or_else(Current::none, |(metadata, id)| Current::new(id, metadata))
    }
}

/// The id of the innermost span that this thread is in.
pub(super) fn entered() -> Option<Id> {
    ENTERED.try_with(|entered| entered.borrow().last().cloned()).ok()?
}

pub(super) fn enter(id: &Id) {
    let _ = ENTERED.try_with(|entered| entered.borrow_mut().push(id.clone()));
}

pub(super) fn exit(id: &Id) {
    let _ = ENTERED.try_with(|entered| {
        let mut entered = entered.borrow_mut();
        if let Some(place) = entered.iter().rposition(|it| it == id) {
            entered.remove(place);
        }
    });
}

fn place(id: &Id) -> usize {
    usize::try_from(id.into_u64() - 1).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_there_until_its_last_handle_and_the_last_one_in_it_are_gone() {
        let spans = OpenSpans::default();
        let callsite = tracing::info_span!("request");
        let metadata = callsite.metadata().unwrap();
        let outer = spans.open(metadata, None, "id=1".to_owned());
        let inner = spans.open(metadata, Some(outer.clone()), String::new());
        spans.add(&inner, "id=2");
        spans.share(&outer);
        let written = |id: &Id| {
            let mut text = String::new();
            spans.write(id, &mut text);
            text
        };
        assert_eq!(written(&inner), "request{id=1}:request{id=2}:");
        assert!(!spans.close(&outer));
        assert!(!spans.close(&outer), "another is in it");
        assert_eq!(written(&outer), "request{id=1}:");
        assert!(spans.close(&inner));
        assert_eq!((written(&inner), written(&outer)), (String::new(), String::new()));
    }
}
