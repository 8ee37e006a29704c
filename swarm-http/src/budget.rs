//! The memory that bodies and answers in flight may take, all of them together. What is small is
//! part of what a connection costs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A body or an answer up to this size, in bytes, is not counted.
pub(crate) const SMALL: usize = 64 << 10;

/// The budget for bodies, in bytes, and the same again for answers.
const ROOM: usize = 64 << 20;

/// How long a body waits for memory.
const PATIENCE: Duration = Duration::from_secs(5);

/// The unit in which the budget is counted, in bytes.
const UNIT: usize = 1 << 10;

/// What is left of the budget.
pub(crate) struct Budget {
    bodies: Arc<Semaphore>,
    answers: Arc<Semaphore>,
    /// The most that is counted for one answer, in bytes: a larger one is sent all the same.
    most: usize,
    /// The large answers in flight, by their tags: equal answers share the same bytes.
    shared: Mutex<HashMap<HeaderValue, Weak<Held>>>,
}

/// A part of the budget that is in use.
pub(crate) struct Reservation(OwnedSemaphorePermit);

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetExhausted;

impl Default for Budget {
    fn default() -> Self {
        Self::of(ROOM)
    }
}

impl Budget {
    /// So much for bodies, and as much for answers, in bytes.
    fn of(room: usize) -> Self {
        let semaphore = || Arc::new(Semaphore::new(room / UNIT));
        let (bodies, answers) = (semaphore(), semaphore());
        Self { bodies, answers, most: room / 2, shared: Mutex::default() }
    }

    /// Reserves memory for a body of at most this many bytes, as soon as there is some.
    ///
    /// # Errors
    /// [`BudgetExhausted`] when it takes too long.
    pub(crate) async fn reserve_body(&self, bytes: usize) -> Result<Reservation, BudgetExhausted> {
        let permits = Arc::clone(&self.bodies).acquire_many_owned(units(bytes));
        let permits = timeout(PATIENCE, permits).await.ok().and_then(Result::ok);
        permits.map(Reservation).ok_or(BudgetExhausted)
    }

    /// Counts the bytes of an answer until their last copy is dropped. Answers with the same tag
    /// share one copy.
    ///
    /// # Errors
    /// [`BudgetExhausted`]; the answer is then gone: it must not wait, since it already takes
    /// memory.
    pub(crate) fn hold(
        &self,
        bytes: Bytes,
        tag: Option<&HeaderValue>,
    ) -> Result<Bytes, BudgetExhausted> {
        if bytes.len() <= SMALL {
            return Ok(bytes);
        }
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = tag.and_then(|tag| shared.get(tag)?.upgrade()) {
            return Ok(Shared(held).into_bytes());
        }
        let units = units(bytes.len().min(self.most));
        let permits = Arc::clone(&self.answers).try_acquire_many_owned(units);
        let reservation = Reservation(permits.map_err(|_| BudgetExhausted)?);
        let held = Arc::new(Held { bytes, _reservation: reservation });
        shared.retain(|_, held| held.strong_count() > 0);
        if let Some(tag) = tag {
            shared.insert(tag.clone(), Arc::downgrade(&held));
        }
        Ok(Shared(held).into_bytes())
    }
}

impl Reservation {
    /// Counts a body until its last copy is dropped; what it does not use of its reservation is
    /// given back.
    pub(crate) fn hold(mut self, bytes: Bytes) -> Bytes {
        let spare = self.0.num_permits().saturating_sub(units(bytes.len()) as usize);
        drop(self.0.split(spare));
        Shared(Arc::new(Held { bytes, _reservation: self })).into_bytes()
    }
}

/// Bytes, and their part of the budget.
struct Held {
    bytes: Bytes,
    _reservation: Reservation,
}

struct Shared(Arc<Held>);

impl Shared {
    fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

/// More than a semaphore has where it is too much for any: that is never given.
fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large(byte: u8) -> Bytes {
        vec![byte; 2 * SMALL].into()
    }

    #[test]
    fn answers_take_room_until_the_last_copy_is_gone() {
        let budget = Budget::of(5 * SMALL);
        let first = budget.hold(large(1), None).unwrap();
        let copy = first.slice(7..9);
        let second = budget.hold(large(2), None).unwrap();
        assert_eq!(budget.hold(large(3), None), Err(BudgetExhausted));
        assert_eq!(budget.hold(Bytes::from_static(b"small"), None).unwrap(), "small");
        drop(first);
        assert_eq!(budget.hold(large(3), None), Err(BudgetExhausted));
        drop(copy);
        assert_eq!(budget.hold(large(3), None).unwrap(), large(3));
        assert_eq!(second, large(2));
    }

    #[test]
    fn no_answer_is_too_large() {
        let budget = Budget::of(4 * SMALL);
        let huge = || Bytes::from(vec![0; 9 * SMALL]);
        let first = budget.hold(huge(), None).unwrap();
        let second = budget.hold(huge(), None).unwrap();
        assert_eq!(budget.hold(large(1), None), Err(BudgetExhausted));
        drop((first, second));
        budget.hold(large(1), None).unwrap();
    }

    #[test]
    fn the_same_answer_is_held_once() {
        let budget = Budget::of(5 * SMALL);
        let tag = HeaderValue::from_static("\"a\"");
        let other = budget.hold(large(0), None).unwrap();
        let first = budget.hold(large(1), Some(&tag)).unwrap();
        let second = budget.hold(large(1), Some(&tag)).unwrap();
        assert_eq!(first.as_ptr(), second.as_ptr());
        assert_eq!(
            budget.hold(large(2), Some(&HeaderValue::from_static("\"b\""))),
            Err(BudgetExhausted)
        );
        drop((first, second, other));
        budget.hold(large(2), Some(&HeaderValue::from_static("\"b\""))).unwrap();
        assert_eq!(budget.shared.lock().unwrap().len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_wait_for_room_and_give_back_what_they_do_not_need() {
        let budget = Budget::of(2 * SMALL);
        let reservation = budget.reserve_body(2 * SMALL).await.unwrap();
        assert!(budget.reserve_body(SMALL).await.is_err());
        let body = reservation.hold(vec![1; SMALL].into());
        let rest = budget.reserve_body(SMALL).await.unwrap();
        drop(body);
        assert!(budget.reserve_body(2 * SMALL).await.is_err());
        drop(rest);
        assert!(budget.reserve_body(2 * SMALL).await.is_ok());
        assert!(budget.reserve_body(3 * SMALL).await.is_err(), "it never fits");
    }
}
