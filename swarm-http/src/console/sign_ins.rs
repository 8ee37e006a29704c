//! The sign-ins of operators. They are kept in memory: a restart ends them all.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use swarm_core::TenantId;
use swarm_core::domain::{Actor, AdminTokenHash, hex};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

/// The maximum age of a sign-in, and the maximum time without a request.
const MAX_AGE: Duration = Duration::from_secs(12 * 60 * 60);
const MAX_IDLE: Duration = Duration::from_secs(60 * 60);

/// Maximum number of sign-ins of one operator. Beyond it, the one that was idle longest ends.
const MAX_SIGN_INS: usize = 20;

/// Maximum number of submitted forms whose outcome is remembered.
const MAX_FORMS: usize = 200;

/// A SHA-256, of the cookie's secret or of a form's name: a browser may send a name of any length.
type Key = [u8; 32];

/// The sign-ins of the console.
#[derive(Default)]
pub(crate) struct SignIns(Mutex<HashMap<Key, Arc<SignIn>>>);

/// A sign-in of an operator, in one browser.
pub(crate) struct SignIn {
    tenant: TenantId,
    pub(crate) operator: Actor,
    pub(crate) by: Authentication,
    began: Instant,
    forms: Arc<Forms>,
    state: Mutex<State>,
}

/// The forms of a sign-in. All sign-ins of an operator whom the program around authenticates share them: the second click on a
/// form may be sent before the browser has the cookie that came with the first answer.
struct Forms {
    /// Held while a form is processed, so that a double click gets the outcome of the first click.
    lock: Arc<tokio::sync::Mutex<()>>,
    /// Begins the names of forms. Forms of an earlier sign-in begin differently, so that they are not taken for one of these.
    prefix: String,
    state: Mutex<FormsState>,
}

struct FormsState {
    /// The number of pages with forms.
    pages: u64,
    /// The submitted forms by name, and where each one redirected; `None` while the form is processed.
    sent: VecDeque<(Key, Option<String>)>,
}

/// How an operator signed in. It must still hold with every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authentication {
    /// With the token that has this hash.
    Token(AdminTokenHash),
    /// The program around the service authenticates each request.
    SignOn,
}

struct State {
    used: Instant,
    /// A message for the next page.
    notice: Option<String>,
    secret: Option<Secret>,
}

/// A minted secret that was not shown yet.
pub(crate) struct Secret {
    pub(crate) of: String,
    pub(crate) text: String,
}

/// What a request gets of the secret of its sign-in.
pub(crate) enum SecretState {
    /// There is no secret, or it was shown before.
    None,
    /// There is one, which this request may not show.
    Kept,
    /// The secret. It is forgotten.
    Shown(Secret),
}

/// Whether a form is new or was submitted before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Submission {
    /// The form was not submitted before.
    New,
    /// The form was submitted before, and redirected to this path; `None` if it is unknown whether it took effect.
    Repeated(Option<String>),
}

impl SignIns {
    /// Begins a sign-in whose cookie holds `secret`, and returns it.
    pub(crate) fn begin(
        &self,
        secret: &str,
        (tenant, operator, by): (TenantId, Actor, Authentication),
        now: Instant,
    ) -> Arc<SignIn> {
        let mut all = self.lock();
        all.retain(|_, sign_in| sign_in.is_valid(now));
        let same = all.iter().filter(|(_, it)| it.tenant == tenant && it.operator == operator);
        let same: Vec<_> = same.map(|(key, it)| (it.state().used, *key)).collect();
        if same.len() >= MAX_SIGN_INS
            && let Some((_, idle)) = same.iter().min()
        {
            all.remove(idle);
        }
        let shared = all.values().find(|it| {
            by == Authentication::SignOn
                && it.by == by
                && it.tenant == tenant
                && it.operator == operator
        });
        let forms = shared.map_or_else(|| Arc::new(Forms::new(secret)), |it| Arc::clone(&it.forms));
        let state = Mutex::new(State { used: now, notice: None, secret: None });
        let sign_in = Arc::new(SignIn { tenant, operator, by, began: now, forms, state });
        all.insert(key(secret), Arc::clone(&sign_in));
        sign_in
    }

    /// The sign-in whose cookie holds `secret`, if it belongs to this tenant and has not ended.
    pub(crate) fn find(
        &self,
        secret: &str,
        tenant: &TenantId,
        now: Instant,
    ) -> Option<Arc<SignIn>> {
        let mut all = self.lock();
        let key = key(secret);
        let sign_in = all.get(&key).filter(|it| it.tenant == *tenant).cloned()?;
        if !sign_in.is_valid(now) {
            all.remove(&key);
            return None;
        }
        sign_in.state().used = now;
        Some(sign_in)
    }

    /// Returns whether this operator is signed in.
    pub(crate) fn has(&self, tenant: &TenantId, operator: &Actor, now: Instant) -> bool {
        let all = self.lock();
        let mut same = all.values().filter(|it| it.tenant == *tenant && it.operator == *operator);
        same.any(|sign_in| sign_in.is_valid(now))
    }

    pub(crate) fn end(&self, secret: &str) {
        self.lock().remove(&key(secret));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<SignIn>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SignIn {
    fn is_valid(&self, now: Instant) -> bool {
        now < self.began + MAX_AGE && now < self.state().used + MAX_IDLE
    }

    /// Waits until no other form of the sign-in is processed. Further ones wait until the guard is dropped.
    pub(crate) async fn lock_forms(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.forms.lock).lock_owned().await
    }

    /// A prefix for the names of a page's forms, which no other page has.
    pub(crate) fn new_form_prefix(&self) -> String {
        let mut state = self.forms.state();
        state.pages += 1;
        format!("{}-{}", self.forms.prefix, state.pages)
    }

    /// Marks a form as submitted. A form without a name is always new.
    pub(crate) fn submit_form(&self, form: &str) -> Submission {
        let mut state = self.forms.state();
        if form.is_empty() {
            return Submission::New;
        }
        let form = key(form);
        if let Some((_, redirect)) = state.sent.iter().find(|(sent, _)| *sent == form) {
            return Submission::Repeated(redirect.clone());
        }
        if state.sent.len() >= MAX_FORMS {
            state.sent.pop_front();
        }
        state.sent.push_back((form, None));
        Submission::New
    }

    /// Records that the form took effect. A repeated submission redirects to `location`.
    pub(crate) fn form_done(&self, form: &str, location: &str) {
        let form = key(form);
        let mut state = self.forms.state();
        if let Some((_, redirect)) = state.sent.iter_mut().find(|(sent, _)| *sent == form) {
            *redirect = Some(location.to_owned());
        }
    }

    /// Records that the form was refused, so that it may be submitted again.
    pub(crate) fn form_refused(&self, form: &str) {
        let form = key(form);
        self.forms.state().sent.retain(|(sent, _)| *sent != form);
    }

    pub(crate) fn set_notice(&self, notice: String) {
        self.state().notice = Some(notice);
    }

    pub(crate) fn take_notice(&self) -> Option<String> {
        self.state().notice.take()
    }

    pub(crate) fn store_secret(&self, secret: Secret) {
        self.state().secret = Some(secret);
    }

    /// Returns the secret, and forgets it if `may_show`.
    pub(crate) fn take_secret(&self, may_show: bool) -> SecretState {
        let mut state = self.state();
        match state.secret.take_if(|_| may_show) {
            Some(secret) => SecretState::Shown(secret),
            None if state.secret.is_some() => SecretState::Kept,
            None => SecretState::None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Forms {
    /// The forms of a sign-in whose cookie holds `secret`. Later sign-ins may share them.
    fn new(secret: &str) -> Self {
        let prefix = hex(&key(&format!("forms {secret}"))[..6]);
        let state = FormsState { pages: 0, sent: VecDeque::new() };
        Self { lock: Arc::default(), prefix, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, FormsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(text: &str) -> Key {
    Sha256::digest(text.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(id: &str) -> TenantId {
        TenantId::parse(id).unwrap()
    }

    fn begin(all: &SignIns, secret: &str, now: Instant) {
        let by = Authentication::Token(AdminTokenHash::of(b"token"));
        all.begin(secret, (tenant("acme"), Actor::OPERATOR, by), now);
    }

    #[test]
    fn sign_in_ends_after_an_idle_hour_and_after_twelve_hours() {
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
    fn sign_in_is_of_its_tenant_alone() {
        let (all, now) = (SignIns::default(), Instant::now());
        begin(&all, "a", now);
        assert!(all.find("a", &tenant("other"), now).is_none());
        assert!(all.find("a", &tenant("acme"), now).is_some());
        all.end("a");
        assert!(all.find("a", &tenant("acme"), now).is_none());
    }

    #[test]
    fn operator_has_a_bounded_number_of_sign_ins() {
        let (all, now) = (SignIns::default(), Instant::now());
        for nth in 0..=MAX_SIGN_INS as u32 {
            begin(&all, &nth.to_string(), now + Duration::from_secs(nth.into()));
        }
        let later = now + Duration::from_secs(60);
        assert!(all.find("0", &tenant("acme"), later).is_none());
        assert!(all.find("1", &tenant("acme"), later).is_some());
        assert_eq!(all.lock().len(), MAX_SIGN_INS);
    }

    #[test]
    fn form_counts_once() {
        let (all, now) = (SignIns::default(), Instant::now());
        begin(&all, "a", now);
        let sign_in = all.find("a", &tenant("acme"), now).unwrap();
        assert_eq!(sign_in.submit_form("1"), Submission::New);
        assert_eq!(sign_in.submit_form("1"), Submission::Repeated(None));
        sign_in.form_done("1", "/operate");
        assert_eq!(sign_in.submit_form("1"), Submission::Repeated(Some("/operate".to_owned())));
        assert_eq!(sign_in.submit_form("2"), Submission::New);
        sign_in.form_refused("2");
        assert_eq!(sign_in.submit_form("2"), Submission::New);
    }

    #[test]
    fn forms_are_shared_by_the_sign_ins_of_a_sign_on_alone() {
        let (all, now) = (SignIns::default(), Instant::now());
        let begin = |secret: &str, operator: &str, by| {
            let operator = Actor::operator(operator).unwrap();
            all.begin(secret, (tenant("acme"), operator, by), now)
        };
        let token = Authentication::Token(AdminTokenHash::of(b"token"));
        let first = begin("a", "ada", Authentication::SignOn);
        assert_eq!(first.submit_form("1"), Submission::New);
        let again = begin("b", "ada", Authentication::SignOn);
        assert_eq!(again.submit_form("1"), Submission::Repeated(None));
        assert_ne!(first.new_form_prefix(), again.new_form_prefix());
        let others = [
            begin("c", "eve", Authentication::SignOn),
            begin("d", "ada", token),
            begin("e", "ada", token),
        ];
        let mut prefixes = vec![first.new_form_prefix()];
        for other in others {
            assert_eq!(other.submit_form("1"), Submission::New);
            prefixes.push(other.new_form_prefix());
        }
        prefixes.sort_unstable();
        prefixes.dedup();
        assert_eq!(prefixes.len(), 4, "{prefixes:?}");
    }
}
