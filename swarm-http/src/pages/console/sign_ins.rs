//! The sessions of signed-in operators. They are kept in memory: a restart ends them all.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash};
use tokio::time::Instant;

/// The maximum age of a session, and the maximum time without a request.
const MAX_AGE: Duration = Duration::from_secs(12 * 60 * 60);
const MAX_IDLE: Duration = Duration::from_secs(60 * 60);

/// Maximum number of sessions of one operator. Beyond it, the one that was idle longest ends.
const MAX_SESSIONS: usize = 20;

/// Maximum number of forms of a session whose outcome is remembered.
const MAX_FORMS: usize = 200;

/// The SHA-256 of the cookie's secret.
type Key = [u8; 32];

/// The sessions of the console.
#[derive(Default)]
pub(crate) struct SignIns(Mutex<HashMap<Key, Arc<SignIn>>>);

/// A session of an operator.
pub(crate) struct SignIn {
    tenant: TenantId,
    pub(crate) operator: Actor,
    pub(crate) token: AdminTokenHash,
    began: Instant,
    /// Held while a form of the session is processed, so that a double click gets the outcome of the first click.
    pub(crate) turn: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<State>,
}

struct State {
    used: Instant,
    forms: u64,
    /// The forms that were sent, and where each one redirected; `None` while it is processed.
    sent: VecDeque<(String, Option<String>)>,
    /// A message for the next page.
    notice: Option<String>,
    secret: Option<Secret>,
}

/// A minted secret that was not shown yet.
pub(crate) struct Secret {
    pub(crate) of: String,
    pub(crate) text: String,
}

/// Whether a form was sent before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// It was not sent before.
    First,
    /// It was sent before, and redirected there; `None` if it is unknown whether it took effect.
    Again(Option<String>),
}

impl SignIns {
    /// Begins a session whose cookie holds `secret`, and returns it.
    pub(crate) fn begin(
        &self,
        secret: &str,
        (tenant, operator, token): (TenantId, Actor, AdminTokenHash),
        now: Instant,
    ) -> Arc<SignIn> {
        let mut all = self.lock();
        all.retain(|_, sign_in| sign_in.lasts(now));
        let same = all.iter().filter(|(_, it)| it.tenant == tenant && it.operator == operator);
        let same: Vec<_> = same.map(|(key, it)| (it.state().used, *key)).collect();
        if same.len() >= MAX_SESSIONS
            && let Some((_, idle)) = same.iter().min()
        {
            all.remove(idle);
        }
        let state =
            State { used: now, forms: 0, sent: VecDeque::new(), notice: None, secret: None };
        let (turn, state) = (Arc::default(), Mutex::new(state));
        let sign_in = Arc::new(SignIn { tenant, operator, token, began: now, turn, state });
        all.insert(key(secret), Arc::clone(&sign_in));
        sign_in
    }

    /// The session whose cookie holds `secret`, if it is one of this tenant and has not ended.
    pub(crate) fn find(
        &self,
        secret: &str,
        tenant: &TenantId,
        now: Instant,
    ) -> Option<Arc<SignIn>> {
        let mut all = self.lock();
        let key = key(secret);
        let sign_in = all.get(&key).filter(|it| it.tenant == *tenant).cloned()?;
        if !sign_in.lasts(now) {
            all.remove(&key);
            return None;
        }
        sign_in.state().used = now;
        Some(sign_in)
    }

    pub(crate) fn end(&self, secret: &str) {
        self.lock().remove(&key(secret));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<SignIn>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SignIn {
    fn lasts(&self, now: Instant) -> bool {
        now < self.began + MAX_AGE && now < self.state().used + MAX_IDLE
    }

    /// A name for the forms of a page, which no other page of this session has.
    pub(crate) fn name_forms(&self) -> String {
        let mut state = self.state();
        state.forms += 1;
        state.forms.to_string()
    }

    /// Marks a form as sent; without a name every sending is the first.
    pub(crate) fn send(&self, form: &str) -> Sending {
        let mut state = self.state();
        if form.is_empty() {
            return Sending::First;
        }
        if let Some((_, led)) = state.sent.iter().find(|(sent, _)| sent == form) {
            return Sending::Again(led.clone());
        }
        if state.sent.len() >= MAX_FORMS {
            state.sent.pop_front();
        }
        state.sent.push_back((form.to_owned(), None));
        Sending::First
    }

    /// The form took effect. A repetition redirects to `location`.
    pub(crate) fn done(&self, form: &str, location: &str) {
        if let Some((_, led)) = self.state().sent.iter_mut().find(|(sent, _)| sent == form) {
            *led = Some(location.to_owned());
        }
    }

    /// The form was refused, so that it may be sent again.
    pub(crate) fn refused(&self, form: &str) {
        self.state().sent.retain(|(sent, _)| sent != form);
    }

    pub(crate) fn say(&self, notice: String) {
        self.state().notice = Some(notice);
    }

    pub(crate) fn take_notice(&self) -> Option<String> {
        self.state().notice.take()
    }

    pub(crate) fn keep_secret(&self, secret: Secret) {
        self.state().secret = Some(secret);
    }

    /// Returns the secret, this once.
    pub(crate) fn take_secret(&self) -> Option<Secret> {
        self.state().secret.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(secret: &str) -> Key {
    Sha256::digest(secret.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(id: &str) -> TenantId {
        TenantId::parse(id).unwrap()
    }

    fn begin(all: &SignIns, secret: &str, now: Instant) {
        let token = AdminTokenHash::of(b"token");
        all.begin(secret, (tenant("acme"), Actor::OPERATOR, token), now);
    }

    #[test]
    fn session_ends_after_an_idle_hour_and_after_twelve_hours() {
        let (all, began) = (SignIns::default(), Instant::now());
        let acme = tenant("acme");
        begin(&all, "a", began);
        assert!(all.find("a", &acme, began + MAX_IDLE).is_none());
        begin(&all, "b", began);
        let step = MAX_IDLE - Duration::from_secs(1);
        for steps in 1..12 {
            assert!(all.find("b", &acme, began + steps * step).is_some(), "{steps}");
        }
        assert!(all.find("b", &acme, began + MAX_AGE).is_none());
    }

    #[test]
    fn session_is_of_its_tenant_alone() {
        let (all, now) = (SignIns::default(), Instant::now());
        begin(&all, "a", now);
        assert!(all.find("a", &tenant("other"), now).is_none());
        assert!(all.find("a", &tenant("acme"), now).is_some());
        all.end("a");
        assert!(all.find("a", &tenant("acme"), now).is_none());
    }

    #[test]
    fn operator_has_a_bounded_number_of_sessions() {
        let (all, now) = (SignIns::default(), Instant::now());
        for nth in 0..=MAX_SESSIONS as u32 {
            begin(&all, &nth.to_string(), now + Duration::from_secs(nth.into()));
        }
        let later = now + Duration::from_secs(60);
        assert!(all.find("0", &tenant("acme"), later).is_none());
        assert!(all.find("1", &tenant("acme"), later).is_some());
        assert_eq!(all.lock().len(), MAX_SESSIONS);
    }

    #[test]
    fn form_counts_once() {
        let (all, now) = (SignIns::default(), Instant::now());
        begin(&all, "a", now);
        let session = all.find("a", &tenant("acme"), now).unwrap();
        assert_eq!(session.send("1"), Sending::First);
        assert_eq!(session.send("1"), Sending::Again(None));
        session.done("1", "/operate");
        assert_eq!(session.send("1"), Sending::Again(Some("/operate".to_owned())));
        assert_eq!(session.send("2"), Sending::First);
        session.refused("2");
        assert_eq!(session.send("2"), Sending::First);
    }
}
