//! Pointers to an implementation of a part of the port implement it too, so a decorator can hold
//! any store and write out only the methods that it changes.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    BasisQuery, ChallengeOffer, Clock, Collection, Committee, CommitteeBasis, CommitteeDayChange,
    CommitteeFiled, CommitteeFiling, CommitteeMemberChange, CommitteeSessionQuery, CommitteeStore,
    CommitteeTakesQuery, CommitteeTenants, Convocation, Countable, Counts, Document, DocumentDraft,
    Documents, Filed, Filing, Log, MemberBasis, MemberChange, MemberQuery, MemberSaved, Members,
    MessageChange, Outbox, Put, Readiness, Result, Saved, SessionChange, SessionQuery, Sessions,
    Store, TakeQuery, Takes, Tenants, Versioned,
};
use crate::domain::committee::{
    CommitteeBrief, CommitteeDay, CommitteeMember, CommitteeMemberId, CommitteeTake,
};
use crate::domain::{
    Act, ApiKeyHash, Challenge, Day, LogRow, MailState, Member, MemberId, Message, MessageId, Seq,
    Session, SessionId, Take, TakeId, TakeOnFile, TenantId, Timestamp, TokenHash,
};

macro_rules! forward {
    ($part:ident { $($methods:tt)* }) => {
        forward!(@ $part, &T, $($methods)*);
        forward!(@ $part, Box<T>, $($methods)*);
        forward!(@ $part, Arc<T>, $($methods)*);
    };
    (@ $part:ident, $pointer:ty,
        $(fn $open:ident(&self, $tenant:ident: $id:ty) -> $world:ty;)?
        $(async fn $method:ident(&self $(, $arg:ident: $type:ty)*) -> $answer:ty;)*
    ) => {
        #[async_trait]
        impl<T: $part + ?Sized> $part for $pointer {
            $(fn $open(&self, $tenant: $id) -> $world {
                (**self).$open($tenant)
            })?

            $(async fn $method(&self $(, $arg: $type)*) -> $answer {
                (**self).$method($($arg),*).await
            })*
        }
    };
}

forward!(Tenants {
    fn open(&self, tenant: &TenantId) -> Arc<dyn Store>;
    async fn ready(&self) -> Result<Readiness>;
});

forward!(CommitteeTenants {
    fn open_committee(&self, tenant: &TenantId) -> Arc<dyn CommitteeStore>;
});

forward!(Clock {
    async fn now(&self) -> Result<Timestamp>;
});

forward!(Members {
    async fn member(&self, id: &MemberId) -> Result<MemberBasis>;
    async fn members(&self, query: &MemberQuery) -> Result<Vec<Arc<Member>>>;
    async fn bearer(&self, token: &TokenHash) -> Result<Option<Arc<Member>>>;
    async fn save_member(&self, change: &MemberChange) -> Result<MemberSaved>;
    async fn give_challenge(&self, offer: &ChallengeOffer) -> Result<Challenge>;
});

forward!(Sessions {
    async fn session(&self, id: SessionId) -> Result<Option<Versioned<Session>>>;
    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<Arc<Session>>>;
    async fn published(&self, limit: usize) -> Result<Vec<Arc<Session>>>;
    async fn convene(&self, convocation: &Convocation) -> Result<Arc<Session>>;
    async fn save_session(&self, change: &SessionChange) -> Result<Saved>;
});

forward!(Takes {
    async fn basis(&self, query: &BasisQuery<'_>) -> Result<crate::rules::Basis>;
    async fn file(&self, filing: &Filing) -> Result<Filed>;
    async fn take(&self, id: TakeId) -> Result<Option<TakeOnFile>>;
    async fn takes(&self, session: SessionId) -> Result<Vec<Arc<Take>>>;
    async fn latest_takes(&self, query: &TakeQuery) -> Result<Vec<Arc<Take>>>;
});

forward!(Documents {
    async fn document(&self, collection: Collection, key: &str) -> Result<Option<Document>>;
    async fn documents(
        &self,
        collection: Collection,
        group: Option<&str>
    ) -> Result<Vec<Document>>;
    async fn put_document(&self, collection: Collection, draft: &DocumentDraft) -> Result<Put>;
});

forward!(Outbox {
    async fn messages(
        &self,
        state: Option<MailState>,
        after: Option<MessageId>
    ) -> Result<Vec<Versioned<Message>>>;
    async fn save_message(&self, change: &MessageChange) -> Result<Saved>;
});

forward!(Log {
    async fn accept_clock(&self, act: &Act) -> Result<()>;
    async fn log(&self, after: Seq, limit: usize) -> Result<Vec<LogRow>>;
    async fn log_size(&self) -> Result<Seq>;
    async fn acts_on(&self, session: SessionId) -> Result<Vec<LogRow>>;
});

forward!(Counts {
    async fn count(&self, what: Countable) -> Result<u64>;
});

forward!(Committee {
    async fn committee_members(&self) -> Result<Vec<Versioned<CommitteeMember>>>;
    async fn committee_member(
        &self,
        id: &CommitteeMemberId
    ) -> Result<Option<Versioned<CommitteeMember>>>;
    async fn save_committee_member(&self, change: &CommitteeMemberChange) -> Result<Saved>;
    async fn committee_day(&self, date: Day) -> Result<Option<Versioned<CommitteeDay>>>;
    async fn committee_sessions(
        &self,
        query: &CommitteeSessionQuery
    ) -> Result<Vec<Versioned<CommitteeDay>>>;
    async fn save_committee_day(&self, change: &CommitteeDayChange) -> Result<Saved>;
    async fn committee_briefs(
        &self,
        date: Day,
        member: Option<&CommitteeMemberId>
    ) -> Result<Vec<Arc<CommitteeBrief>>>;
    async fn committee_basis(&self, key: &ApiKeyHash) -> Result<CommitteeBasis>;
    async fn file_committee(&self, filing: &CommitteeFiling) -> Result<CommitteeFiled>;
    async fn committee_takes(
        &self,
        query: &CommitteeTakesQuery<'_>
    ) -> Result<Vec<Arc<CommitteeTake>>>;
});
