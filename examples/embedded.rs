//! The core inside another server: a line of JSON in, a line of JSON out, over plain TCP.
//!
//! The core does not depend on HTTP. An embedder provides a transport, here [`serve`], [`talk`] and
//! [`answer`], and calls the methods of a [`Tenant`].
//!
//! Run it: `cargo run -p swarm-examples --example embedded`

use std::error::Error;

use serde::Serialize;
use swarm_core::domain::{
    Actor, Application, Attribution, Body, Confidence, Contact, Day, Lens, Name, SessionDraft,
    Signed, Subject, SubjectId, TokenClaim, TokenHash,
};
use swarm_core::json::{self, Json, Object};
use swarm_core::proof::{BearerToken, KeyPair};
use swarm_core::{
    MemberId, Submission, SubmitError, Swarm, SystemEntropy, TakeDraft, TakeId, Tenant, TenantId,
};
use swarm_store_memory::MemoryStore;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// The origin at which members reach the service.
const SERVICE: &str = "https://embedder.example";

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let swarm = Swarm::new(MemoryStore::new(), SystemEntropy);
    let tenant = swarm.tenant(&TenantId::parse("acme")?);
    convene(&tenant).await?;
    let keys = KeyPair::from_seed(&[7; 32]);
    let (member, token) = join(&tenant, &keys).await?;

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = tokio::spawn(serve(listener, tenant));

    let mut client = BufReader::new(TcpStream::connect(address).await?);
    let filing = request(&token, &keys.sign(draft(&member)?));
    let filed = ask(&mut client, &filing).await?;
    println!("Filed:     {filed}");
    println!("Again:     {}", ask(&mut client, &filing).await?);
    let read = ask(&mut client, r#"{"do": "read", "take": 1}"#).await?;
    println!("Read back: {read}");
    server.abort();
    if read == filed {
        Ok(())
    } else {
        Err("the record differs from the take that was filed".into())
    }
}

// The server.

async fn serve(listener: TcpListener, tenant: Tenant) -> Outcome<()> {
    loop {
        let (socket, _) = listener.accept().await?;
        tokio::spawn(talk(socket, tenant.clone()));
    }
}

/// Answers a connection line by line, at most a megabyte.
async fn talk(mut socket: TcpStream, tenant: Tenant) -> Outcome<()> {
    let (input, mut output) = socket.split();
    let mut lines = BufReader::new(input.take(1 << 20)).lines();
    while let Some(line) = lines.next_line().await? {
        let answer = answer(&tenant, &line).await + "\n";
        output.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

async fn answer(tenant: &Tenant, line: &str) -> String {
    let mut fields = Json::read(line.as_bytes()).map(Json::into_object).unwrap_or_default();
    match fields.text("do").as_deref() {
        Ok("file") => file(tenant, &mut fields).await,
        Ok("read") => read(tenant, &mut fields).await,
        _ => failed("no such request"),
    }
}

async fn file(tenant: &Tenant, fields: &mut Object) -> String {
    let token = fields.text("token").unwrap_or_default();
    let submission = match Submission::read(fields) {
        Ok(submission) => submission,
        Err(invalid) => return failed(invalid),
    };
    match tenant.submit(&TokenHash::of(token.as_bytes()), &submission).await {
        Ok(take) => json::write(&take),
        Err(SubmitError::Refused(refused)) => {
            json::write(&Refused { error: refused.to_string(), on_file: refused.original })
        }
        Err(error) => failed(error),
    }
}

async fn read(tenant: &Tenant, fields: &mut Object) -> String {
    let Some(Json::Number(id)) = fields.take("take") else { return failed("which take?") };
    match tenant.take(TakeId(id.get() as u64)).await {
        Ok(take) => json::write(&take),
        Err(error) => failed(error),
    }
}

fn failed(error: impl ToString) -> String {
    json::write(&Refused { error: error.to_string(), on_file: None })
}

#[derive(Serialize)]
struct Refused {
    error: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_file: Option<TakeId>,
}

// The operator: a subject, and a session on it that is open for an hour.

async fn convene(tenant: &Tenant) -> Outcome<()> {
    let subject = Subject::new(SubjectId::parse("acme-fund")?, "Acme Fund");
    let _ = tenant.put_subject(&subject, &Actor::SCHEDULE).await?;
    let mut session = SessionDraft::new(Day::parse("2026-11-21")?, subject.id);
    session.window_closes_at = Some(tenant.now().await?.plus_millis(60 * 60 * 1_000));
    tenant.convene(&session, &Attribution::SCHEDULE).await?;
    Ok(())
}

// The member: it applies, the operator activates it, and it claims its token.

async fn join(tenant: &Tenant, keys: &KeyPair) -> Outcome<(MemberId, BearerToken)> {
    let application = Application {
        name: Name::parse("Ada")?,
        contact: Contact::parse("ada@example.org")?,
        lens: Lens::parse("")?,
        public_key: keys.public_key().to_string(),
    };
    let member = tenant.apply(keys.sign(application)).await?;
    tenant.activate(&member, SERVICE, &Actor::SCHEDULE).await?;
    let challenged = tenant.challenge(&member, SERVICE).await?;
    let claim = TokenClaim {
        member_id: member.clone(),
        challenge: challenged.challenge.as_str().to_owned(),
        expires_at: challenged.expires_at.to_string(),
    };
    let token = tenant.claim(keys.sign(claim), SERVICE).await?;
    Ok((member, token))
}

fn draft(member: &MemberId) -> Outcome<TakeDraft> {
    let take = TakeDraft::new(
        member.clone(),
        Day::parse("2026-11-21")?,
        SubjectId::parse("acme-fund")?,
        "n-1".parse()?,
        "cautious".parse()?,
        Confidence::parse(0.6)?,
    );
    Ok(TakeDraft { body: Body::parse("Cash is a position.")?, ..take })
}

#[derive(Serialize)]
struct Filing<'a> {
    r#do: &'a str,
    token: &'a str,
    #[serde(flatten)]
    take: &'a Signed<TakeDraft>,
}

fn request(token: &BearerToken, signed: &Signed<TakeDraft>) -> String {
    json::write(&Filing { r#do: "file", token: token.reveal(), take: signed })
}

async fn ask(client: &mut BufReader<TcpStream>, line: &str) -> Outcome<String> {
    client.write_all(format!("{line}\n").as_bytes()).await?;
    let mut answer = String::new();
    client.read_line(&mut answer).await?;
    Ok(answer.trim_end().to_owned())
}
