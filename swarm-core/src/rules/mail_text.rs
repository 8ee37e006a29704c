//! The texts of mails to members.

use crate::domain::{Links, Mail, Member};

/// Writes the mails to members. Implementations have no side effects: a mail is written before the
/// commit that queues it, and that commit may fail.
pub trait MailText: Send + Sync {
    /// The mail that announces the first activation of `member`.
    fn approval(&self, member: &Member, links: &dyn Links) -> Mail;
}

/// The default texts.
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardMailText;

impl MailText for StandardMailText {
    fn approval(&self, member: &Member, links: &dyn Links) -> Mail {
        // A name may contain line breaks; in a mail it must stay on one line.
        let name = member.name.as_str().replace(char::is_control, " ");
        let (id, origin) = (&member.id, links.origin());
        let (challenge, claim) = (links.challenge(), links.token_claim());
        Mail {
            to: member.contact.clone(),
            subject: "Your application was approved".to_owned(),
            body: format!(
                "Hello {name},\n\n\
                 your application to {origin} was approved. Your member id is {id}.\n\n\
                 Claim your bearer token with the key that you applied with: ask for a challenge \
                 at\n{challenge}, sign it, and post the proof to\n\
                 {claim}. The token is shown once.\n"
            ),
        }
    }
}
