//! `swarm demo`: an in-memory store, filled through the API that any client uses.

use std::sync::Arc;

use serde::Serialize;
use swarm_core::domain::{
    Application, Body, Confidence, Contact, Day, Lens, MemoUrl, Name, Nonce, Signature, Signed,
    Stance, SubjectId, TakeDraft, TokenClaim,
};
use swarm_core::json::Object;
use swarm_core::proof::{KeyPair, hex};
use swarm_core::{MemberId, Timestamp};
use swarm_http::Site;
use swarm_http::maintenance::{LogQueuedMail, Maintenance};
use tokio::sync::oneshot;
use tracing_subscriber::filter::LevelFilter;
use warp::http::Method;

use crate::arguments::DemoOptions;
use crate::client::Client;
use crate::secrets::{mint_token, random_bytes};
use crate::{Failure, log, serve, store, tenants};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

const SUBJECT: &str = "aurora";

const MEMBERS: [&str; 3] = ["Ada", "Grace", "Hedy"];

/// What each member says of yesterday's session: stance, confidence, write-up.
const YESTERDAY: [(&str, f64, &str); 3] = [
    ("constructive", 0.7, "Liquidity has come back and the spread has halved since last week."),
    ("bullish", 0.55, "The unlock is behind us; supply is known until spring."),
    ("cautious", 0.4, "Breadth is thin: three wallets make most of the volume."),
];

pub(crate) async fn run(options: DemoOptions) -> Result<(), Failure> {
    log::start(options.log_format, LevelFilter::ERROR)?;
    let admin_token = match serve::admin_token()? {
        Some(token) => token,
        None => mint_token()?,
    };
    let tenant = tenants::default_tenant(Some(admin_token.clone()))?;
    let site = Arc::new(Site::single(store::in_memory(), tenant));
    let maintenance = Maintenance::new(&site).with(LogQueuedMail::default);
    let listener = serve::listen(&options.listen).await?;
    let server = listener.local_addr()?;
    let (failed, failure) = oneshot::channel::<Failure>();
    let stop = serve::stop_signal()?;
    let until = async {
        tokio::select! { () = stop => None, failure = failure => failure.ok() }
    };
    let mut ended = None;
    tokio::spawn(async move {
        match fill(Client { server, admin_token }).await {
            // The sender is kept, so that the server goes on until a signal comes.
            Ok(()) => std::future::pending().await,
            Err(failure) => drop(failed.send(failure)),
        }
    });
    serve::serve(listener, &site, maintenance, async { ended = until.await }).await?;
    ended.map_or(Ok(()), Err)
}

/// The story: a subject, three members, a session of yesterday that is published, and one of today
/// that is open.
async fn fill(client: Client) -> Result<(), Failure> {
    let subject = Subject { id: SUBJECT, name: "Aurora Protocol", status: "active" };
    client.operate(Method::POST, "/api/swarm/admin/subjects", &subject).await?;
    let mut members = Vec::new();
    for name in MEMBERS {
        members.push(Author::join(&client, name).await?);
    }
    let now = members.first().map_or(Timestamp::EPOCH, |member| member.joined);
    let yesterday = day(now.plus_millis(-DAY_MILLIS))?;
    let published = published_session(&client, &members, yesterday).await?;
    let (first, amended) = open_session(&client, &members, now).await?;
    let key = members.first().map_or_else(String::new, |author| author.key.public_key());
    print(&client, yesterday, published, [first, amended], &key);
    Ok(())
}

/// Yesterday's session: three takes, a deadline that has passed, aggregated and published.
async fn published_session(client: &Client, members: &[Author], date: Day) -> Result<u64, Failure> {
    let session = convene(client, date, None).await?;
    let mut last = 0;
    for (member, (stance, confidence, body)) in members.iter().zip(YESTERDAY) {
        last = member.file(client, date, stance, confidence, body).await?;
    }
    for state in ["window_closed", "aggregated", "published"] {
        let path = format!("/api/swarm/admin/sessions/{session}/state");
        client.operate(Method::POST, &path, &State { state }).await?;
    }
    Ok(last)
}

/// Today's session: open for another day; one member has amended its take.
async fn open_session(
    client: &Client,
    members: &[Author],
    now: Timestamp,
) -> Result<(u64, u64), Failure> {
    let date = day(now)?;
    convene(client, date, Some(now.plus_millis(DAY_MILLIS))).await?;
    let [author, ..] = members else { return Err("nobody joined".into()) };
    let early = "First look: the spread is narrow, but it is early in the day.";
    let first = author.file(client, date, "neutral", 0.3, early).await?;
    let later = "Second look: volume confirms what the spread said.";
    let amended = author.file(client, date, "constructive", 0.65, later).await?;
    Ok((first, amended))
}

async fn convene(client: &Client, date: Day, deadline: Option<Timestamp>) -> Result<u64, Failure> {
    let session = Session { date, subject_id: SUBJECT, window_closes_at: deadline };
    let mut answer = client.operate(Method::POST, "/api/swarm/admin/sessions", &session).await?;
    let session = answer.take("session").ok_or("the answer has no session")?;
    number(&mut session.into_object(), "id")
}

fn print(client: &Client, yesterday: Day, published: u64, [first, amended]: [u64; 2], key: &str) {
    let Client { server, admin_token } = client;
    println!(
        "
On file, signed by {} members. Open:
  http://{server}/swarm/takes/{amended}   a take, as its page
  http://{server}/swarm/takes/{first}   the take that it amends
  http://{server}/swarm/takes/{published}   a take of a published session
  http://{server}/api/swarm/sessions/{yesterday}/{SUBJECT}   that session and its snapshot
  http://{server}/api/swarm/open-session   the session that takes can be filed in

Verify the first, by the key that its author has and the server was not asked for:
  python3 examples/clients/swarm_client.py verify http://{server}/swarm/takes/{amended} --key {key}

Operate it with the header X-Admin-Token: {admin_token}

Ctrl-C ends the demonstration, and everything in it.",
        MEMBERS.len()
    );
}

/// A member of the demonstration, as its agent: the key never leaves it.
struct Author {
    id: MemberId,
    key: KeyPair,
    token: String,
    joined: Timestamp,
}

impl Author {
    /// Applies, is activated, and claims its token by key proof.
    async fn join(client: &Client, name: &str) -> Result<Self, Failure> {
        let key = KeyPair::from_seed(&random_bytes()?);
        let application = key.sign(Application {
            name: Name::parse(name)?,
            contact: Contact::parse(format!("{}@demo.example", name.to_lowercase()))?,
            lens: Lens::parse("liquidity before narrative")?,
            public_key: key.public_key(),
        });
        let applied = client.post("/api/swarm/apply", &Sent::from(&application)).await;
        let id = MemberId::parse(applied?.text("memberId")?)?;
        let member = Member { member_id: &id };
        client.operate(Method::POST, "/api/swarm/admin/activate", &member).await?;
        let mut given = client.post("/api/swarm/token-claim/challenge", &member).await?;
        let claim = key.sign(TokenClaim {
            member_id: id.clone(),
            challenge: given.text("challenge")?,
            expires_at: given.text("expiresAt")?,
        });
        let claimed = client.post("/api/swarm/token-claim", &Sent::from(&claim)).await;
        let token = claimed?.text("token")?;
        let status = client.get(&format!("/api/swarm/apply/{id}")).await;
        let joined = Timestamp::parse("claimedAt", &status?.text("claimedAt")?)?;
        Ok(Self { id, key, token, joined })
    }

    /// Signs a take and files it; answers its id.
    async fn file(
        &self,
        client: &Client,
        date: Day,
        stance: &str,
        confidence: f64,
        body: &str,
    ) -> Result<u64, Failure> {
        let take = self.key.sign(TakeDraft {
            member_id: self.id.clone(),
            date,
            subject_id: SubjectId::parse(SUBJECT)?,
            nonce: Nonce::parse(hex(&random_bytes()?))?,
            stance: Stance::parse(stance)?,
            confidence: Confidence::parse(confidence)?,
            body: Body::parse(body)?,
            memo_url: MemoUrl::parse("")?,
            weights: None,
        });
        let mut receipt = client.submit(&self.token, &Sent::from(&take)).await?;
        number(&mut receipt, "recommendationId")
    }
}

/// A payload with its signature beside its fields, as it is sent.
#[derive(Serialize)]
struct Sent<'a, T> {
    #[serde(flatten)]
    payload: &'a T,
    signature: &'a Signature,
}

impl<'a, T> From<&'a Signed<T>> for Sent<'a, T> {
    fn from(signed: &'a Signed<T>) -> Self {
        Self { payload: &signed.payload, signature: &signed.signature }
    }
}

#[derive(Serialize)]
struct Subject {
    id: &'static str,
    name: &'static str,
    status: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    date: Day,
    subject_id: &'static str,
    window_closes_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct State {
    state: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Member<'a> {
    member_id: &'a MemberId,
}

fn day(moment: Timestamp) -> Result<Day, Failure> {
    let text = moment.to_string();
    Ok(Day::parse(text.get(..10).unwrap_or_default())?)
}

fn number(answer: &mut Object, field: &'static str) -> Result<u64, Failure> {
    Ok(swarm_core::json::write(&answer.number(field)?).parse()?)
}
