//! Answers to operators, to the committee and to a preflight, as the service writes them and a client reads them.
//!
//! A client of another version reads them too: what the state of a desk lacks is empty or `None`, and a code of a later version is
//! `Other`.

mod committee;
mod desk;
mod members;
mod preflight;
mod webhooks;

pub use committee::{
    CommitteeMembers, CommitteeReceipt, DayFiling, GeneratedBriefs, ListedCommitteeMember,
};
pub use desk::{
    Agenda, AgendaCode, AgendaItem, CommitteeDayStatus, DeskStatus, FineItem, LogStatus,
    MailStatus, MissingMember, OperatorActs, ScheduleStatus, SessionStatus, Status,
};
pub use members::{ApplicationState, Applications, FullApplication, Outbox, QueuedMessage};
pub use preflight::{PreflightAnswer, PreflightFinding, PreflightWarning, WarningCode};
pub use webhooks::{WebhookDelivery, WebhookStatus, Webhooks};

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails panics")]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::domain::json::{Json, write};
    use crate::proof::diagnose::{Code, Diagnosis};

    fn read<T: DeserializeOwned>(text: &str) -> T {
        T::deserialize(Json::read(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn status_of_an_earlier_version_lacks_fields() {
        let status: Status = read(r#"{"ready": true, "members": 2}"#);
        assert!(status.ready && status.mail_server, "{status:?}");
        assert_eq!((status.desk.members, &status.agenda), (2, &Agenda::default()));
        assert_eq!(read::<Status>(&write(&status)), status);
    }

    #[test]
    fn codes_of_a_later_version_are_read() {
        let item: FineItem = read(r#"{"code": "weather", "message": "It is fine."}"#);
        assert_eq!(item.code, AgendaCode::Other);
        let warning: PreflightWarning = read(r#"{"code": "late-hour", "message": "Sleep."}"#);
        assert_eq!(warning.code, WarningCode::Other);
        let mistake = r#"{"code": "typo", "message": "Look."}"#;
        let diagnosis: Diagnosis =
            read(&format!(r#"{{"kind": "take", "verified": false, "findings": [{mistake}]}}"#));
        assert_eq!(
            (diagnosis.findings[0].code, &*diagnosis.findings[0].message),
            (Code::Unknown, "Look.")
        );
    }
}
