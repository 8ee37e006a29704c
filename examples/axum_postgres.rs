//! Swarm in a service that exists: axum, its PostgreSQL, the JSON Web Tokens of its staff and its customers, and its desks.
//!
//! - Desks are rows of a table of the service. Each is a tenant below `/desks/<id>`, served from the moment it is added.
//! - A layer in front of everything verifies the tokens of staff and passes on who it is as an extension. Operators need no
//!   other token, neither at the API nor in the console.
//! - Customers are members without a token of Swarm. A route makes them members, active at once and without a mail. They file at the
//!   site itself, which a hook tells who they are.
//! - A policy refuses takes that name a restricted project.
//! - A trigger writes what is billed for a take in the commit of the take.
//! - A follower keeps the latest stance of each member in a table of the service, in the transaction of its cursor.
//! - On Ctrl-C it ends waiting requests and streams, finishes the other requests and the rounds of background work, and exits.
//!
//! Run it: `DATABASE_URL=postgres://… SIGN_ON_KEY=… cargo run -p swarm-examples --example axum_postgres`. Its test is
//! `tests/axum_postgres.rs`.

use std::collections::HashMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::header::{CONTENT_TYPE, COOKIE, LOCATION};
use axum::http::{Extensions, HeaderMap, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;
use swarm_core::domain::{Actor, AdminTokenHash, Contact, Enrolment, Name, PublicKey};
use swarm_core::service::FollowedRecord;
use swarm_core::store::async_trait;
use swarm_core::{
    Cursor, Follow, MemberId, Policy, PolicyKind, PolicyQuestion, PolicyRefusal, Swarm,
    SystemEntropy, Tenant, TenantId,
};
use swarm_http::{
    BasePath, ClientAddress, MemberRequest, MemberSignOn, Operator, OperatorRequest, Operators,
    Role, ServedTenant, Services, SignOnUnavailable, Site, TenantConfig, TenantDirectory,
    TenantRequest,
};
use swarm_store_postgres::tokio_postgres::{Client, Config, NoTls};
use swarm_store_postgres::{ConfigConnect, Options, PostgresStore};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Where the desks are.
const DESKS: &str = "/desks";

/// What the tokens of the sign-on are for.
const AUDIENCE: &str = "opinions";

/// The tables of the service itself.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS desks (id text PRIMARY KEY, name text NOT NULL);
    CREATE TABLE IF NOT EXISTS cursors (desk text PRIMARY KEY, cursor text NOT NULL);
    CREATE TABLE IF NOT EXISTS stances (
        desk text, member text, subject text, stance text NOT NULL, PRIMARY KEY (desk, member, subject)
    );";

/// What is billed, one row a take, in the same commit: neither is ever there without the other. The function names schemas, because it runs
/// on Swarm's connections. Tables of the service that Swarm's role may not write need `SECURITY DEFINER`.
const BILLING: &str = "
    CREATE TABLE IF NOT EXISTS public.billed (desk text, take bigint, PRIMARY KEY (desk, take));
    CREATE OR REPLACE FUNCTION public.bill() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO public.billed VALUES (NEW.tenant, NEW.id); RETURN NULL; END';
    CREATE OR REPLACE TRIGGER bill AFTER INSERT ON opinions.takes FOR EACH ROW EXECUTE FUNCTION public.bill();";

#[tokio::main]
async fn main() -> Outcome<()> {
    let database = std::env::var("DATABASE_URL")?.parse()?;
    let app = App::open(database, std::env::var("SIGN_ON_KEY")?.as_bytes()).await?;
    let listener = TcpListener::bind("127.0.0.1:8080").await?;
    println!("listening on http://{}", listener.local_addr()?);
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    app.serve(listener, stop).await
}

/// The service.
pub(crate) struct App {
    pub(crate) site: Arc<Site>,
    database: Config,
    shared: Arc<Shared>,
}

/// What the handlers of the service share.
struct Shared {
    database: Client,
    desks: Desks,
    site: Arc<Site>,
    sign_on_key: Vec<u8>,
}

impl App {
    /// Creates the tables that are missing, and reads the desks.
    pub(crate) async fn open(database: Config, sign_on_key: &[u8]) -> Outcome<Self> {
        // Swarm opens its connections as this program says, and keeps to a schema of its own.
        let options = Options::default().schema("opinions")?;
        let connect = ConfigConnect::new(database.clone(), NoTls);
        PostgresStore::create_schema(connect.clone(), options.clone()).await?;
        let store = PostgresStore::over(connect, options).await?;
        let services = Services::from(Swarm::new(store.clone(), SystemEntropy));
        let services = services.with_changes(store);

        let client = connected(&database).await?;
        client.batch_execute(TABLES).await?;
        client.batch_execute(BILLING).await?;
        let desks = Desks::default();
        for row in client.query("SELECT id, name FROM desks", &[]).await? {
            desks.add(desk(row.get(0), row.get(1))?);
        }
        let site = Arc::new(Site::new(services, desks.clone()));
        let sign_on_key = sign_on_key.to_owned();
        let shared = Shared { database: client, desks, site: Arc::clone(&site), sign_on_key };
        Ok(Self { site, database, shared: Arc::new(shared) })
    }

    /// Serves until `stop` is over.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Outcome<()> {
        let Self { site, database, shared } = self;
        let (end_jobs, jobs_end) = oneshot::channel::<()>();
        let jobs = site.maintenance().run_until(async {
            let _ = jobs_end.await;
        });
        let jobs = tokio::spawn(jobs);
        let follower = tokio::spawn(follow(database, Arc::clone(&site)));
        // axum leaves out the path at which it nests a service, so the service puts it back.
        let opinions = swarm_http::service(&site).nested_at(DESKS.parse()?);
        let routes = Router::new()
            .route("/staff/desks", post(add_desk))
            .route("/me/{desk}/key", post(enrol))
            .nest_service(DESKS, opinions)
            .layer(from_fn_with_state(Arc::clone(&shared), authenticate))
            .with_state(shared);
        let stop = async move {
            stop.await;
            site.end_following();
        };
        let routes = routes.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, routes).with_graceful_shutdown(stop).await?;
        // A transaction that the follower has begun is undone: what it handled, it handles again after the next start.
        follower.abort();
        // The rounds in progress end. Without this, a mail might be sent again by the next process.
        drop(end_jobs);
        Ok(jobs.await??)
    }
}

async fn connected(database: &Config) -> Outcome<Client> {
    let (client, connection) = database.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

// Desks.

/// The desks by id.
#[derive(Clone, Default)]
struct Desks(Arc<RwLock<HashMap<TenantId, Arc<TenantConfig>>>>);

impl Desks {
    fn add(&self, desk: TenantConfig) {
        let mut desks = self.0.write().unwrap_or_else(PoisonError::into_inner);
        desks.insert(desk.id.clone(), Arc::new(desk));
    }
}

/// Desks are found by path, on any host.
impl TenantDirectory for Desks {
    fn find(&self, request: &TenantRequest<'_>) -> Option<Arc<TenantConfig>> {
        let id = request.path.strip_prefix(DESKS)?.split('/').nth(1)?;
        self.tenant(&TenantId::parse(id).ok()?)
    }

    fn tenant(&self, id: &TenantId) -> Option<Arc<TenantConfig>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn tenants(&self) -> Vec<Arc<TenantConfig>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn is_by_host(&self) -> bool {
        false
    }
}

fn desk(id: &str, name: &str) -> Outcome<TenantConfig> {
    let base = BasePath::parse(format!("{DESKS}/{id}"))?;
    let mut desk = TenantConfig::new(TenantId::parse(id)?, SignedOnStaff).below(base);
    desk.name = name.to_owned();
    desk.members = Some(Arc::new(SignedOnCustomers));
    desk.policy = Some(Arc::new(RestrictedList));
    Ok(desk)
}

/// POST `/staff/desks` `{id, name}`: adds a desk, which is served at once.
async fn add_desk(
    State(shared): State<Arc<Shared>>,
    extensions: Extensions,
    body: Bytes,
) -> Result<Response, Problem> {
    #[derive(Deserialize)]
    struct NewDesk {
        id: String,
        name: String,
    }

    let staff = extensions.get::<Staff>().ok_or(Problem(StatusCode::UNAUTHORIZED, "staff only"))?;
    if staff.role < Role::Admin {
        return Err(Problem(StatusCode::FORBIDDEN, "not allowed for this role"));
    }
    let invalid = Problem(StatusCode::BAD_REQUEST, "invalid desk");
    let NewDesk { id, name } = serde_json::from_slice(&body).map_err(|_| invalid)?;
    let desk = desk(&id, &name).map_err(|_| invalid)?;
    let insert = "INSERT INTO desks (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let inserted = shared.database.execute(insert, &[&id, &name]).await;
    match inserted {
        Ok(0) => return Err(Problem(StatusCode::CONFLICT, "the desk exists")),
        Ok(_) => shared.desks.add(desk),
        Err(_) => return Err(Problem(StatusCode::SERVICE_UNAVAILABLE, "no database")),
    }
    Ok((StatusCode::CREATED, [(LOCATION, format!("{DESKS}/{id}"))]).into_response())
}

/// An error of this service as problem details, as clients of Swarm may prefer them, too.
#[derive(Clone, Copy)]
struct Problem(StatusCode, &'static str);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(status, title) = self;
        let body = serde_json::json!({ "status": status.as_u16(), "title": title }).to_string();
        (status, [(CONTENT_TYPE, "application/problem+json")], body).into_response()
    }
}

// Customers.

/// POST `/me/<desk>/key` `{name, publicKey}`: makes the customer a member of the desk, active at once. No mail is sent: the
/// service tells its customers itself.
async fn enrol(
    State(shared): State<Arc<Shared>>,
    Path(desk): Path<String>,
    extensions: Extensions,
    headers: HeaderMap,
    uri: Uri,
    body: Bytes,
) -> Result<Response, Problem> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NewMember {
        name: String,
        public_key: String,
    }

    let (customer, desk) = shared.calling(&extensions, &desk)?;
    let invalid = Problem(StatusCode::BAD_REQUEST, "invalid member");
    let NewMember { name, public_key } = serde_json::from_slice(&body).map_err(|_| invalid)?;
    let parsed = || {
        let contact = Contact::parse(format!("customer {customer}"))?;
        let (name, key) = (Name::parse(name)?, PublicKey::parse(&public_key)?);
        Outcome::Ok((Enrolment::new(customer, name, contact, key), Actor::operator("sign-on")?))
    };
    let (enrolment, by) = parsed().map_err(|_| invalid)?;
    match desk.tenant().enrol(&enrolment, &by).await {
        Ok(_) => Ok(StatusCode::CREATED.into_response()),
        Err(error) => Ok(swarm_http::response(uri.path(), &headers, (&error).into())),
    }
}

impl Shared {
    /// The customer that calls, and the desk of this id.
    fn calling(
        &self,
        extensions: &Extensions,
        desk: &str,
    ) -> Result<(MemberId, Arc<ServedTenant>), Problem> {
        let customer = extensions.get::<Customer>();
        let Customer(id) = customer.ok_or(Problem(StatusCode::UNAUTHORIZED, "customers only"))?;
        let desk = TenantId::parse(desk).ok().and_then(|desk| self.site.tenant(&desk));
        Ok((id.clone(), desk.ok_or(Problem(StatusCode::NOT_FOUND, "no such desk"))?))
    }
}

// The sign-on.

/// A member of staff, whose token was verified.
#[derive(Clone)]
struct Staff {
    name: Actor,
    role: Role,
}

/// A customer, whose token was verified. It is the member of this id.
#[derive(Clone)]
struct Customer(MemberId);

/// Verifies the token of staff in the cookie `staff` or the header `X-Staff`, and that of a customer in `X-Customer`. Nothing
/// behind this layer sees a token, nor headers that others would trust.
async fn authenticate(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Response {
    // Wrong tokens are counted by the address, and clients get fair shares by it.
    request.extensions_mut().insert(ClientAddress(client.ip()));
    let claims = |token| verified(token, &shared.sign_on_key, seconds());
    let staff = staff_token(request.headers()).and_then(claims).and_then(Claims::staff);
    let customer = request.headers().get("x-customer").and_then(|token| token.to_str().ok());
    let customer = customer.and_then(claims).and_then(Claims::customer);
    for header in ["x-staff", "x-customer", "x-admin-token", "x-user"] {
        request.headers_mut().remove(header);
    }
    if let Some(staff) = staff {
        request.extensions_mut().insert(staff);
    }
    if let Some(customer) = customer {
        request.extensions_mut().insert(customer);
    }
    next.run(request).await
}

/// The time, in seconds since 1970.
#[expect(
    clippy::disallowed_methods,
    reason = "the tokens of the sign-on expire by the clock of this service"
)]
fn seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn staff_token(headers: &HeaderMap) -> Option<&str> {
    if let Some(token) = headers.get("x-staff") {
        return token.to_str().ok();
    }
    let cookies = headers.get_all(COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let mut pairs = cookies.flat_map(|cookies| cookies.split(';')).map(str::trim);
    pairs.find_map(|pair| pair.strip_prefix("staff="))
}

/// What a token says.
#[derive(Deserialize)]
struct Claims {
    sub: String,
    aud: String,
    exp: u64,
    role: String,
}

impl Claims {
    fn staff(self) -> Option<Staff> {
        Some(Staff { name: Actor::operator(self.sub).ok()?, role: Role::parse(&self.role)? })
    }

    fn customer(self) -> Option<Customer> {
        let id = MemberId::parse(self.sub).ok()?;
        (self.role == "customer").then_some(Customer(id))
    }
}

/// What a JSON Web Token of the sign-on says. It has one algorithm, HS256, whatever its header says. A service whose
/// sign-on signs with other algorithms takes a library for it.
fn verified(token: &str, key: &[u8], now: u64) -> Option<Claims> {
    #[derive(Deserialize)]
    struct Header {
        alg: String,
    }

    let (signed, signature) = token.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let decoded = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
    let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    mac.update(signed.as_bytes());
    mac.verify_slice(&decoded(signature)?).ok()?;
    let header: Header = serde_json::from_slice(&decoded(header)?).ok()?;
    let claims: Claims = serde_json::from_slice(&decoded(claims)?).ok()?;
    let holds = header.alg == "HS256" && claims.aud == AUDIENCE && claims.exp > now;
    holds.then_some(claims)
}

/// A customer that became a member of a desk files there without a token of Swarm.
struct SignedOnCustomers;

#[async_trait]
impl MemberSignOn for SignedOnCustomers {
    async fn admit(
        &self,
        request: &MemberRequest<'_>,
    ) -> Result<Option<MemberId>, SignOnUnavailable> {
        Ok(request.extensions.get().map(|Customer(id)| id.clone()))
    }
}

/// Staff operate all desks.
struct SignedOnStaff;

#[async_trait]
impl Operators for SignedOnStaff {
    async fn admit(
        &self,
        request: &OperatorRequest<'_>,
    ) -> Result<Option<Operator>, SignOnUnavailable> {
        let staff = request.extensions.get::<Staff>().cloned();
        Ok(staff.map(|Staff { name, role }| Operator::new(name, role)))
    }

    /// Operators have no tokens of Swarm.
    async fn with_token(&self, _: &AdminTokenHash) -> Result<Option<Operator>, SignOnUnavailable> {
        Ok(None)
    }
}

// A rule of this service.

/// Nothing is said about these projects.
struct RestrictedList;

const RESTRICTED: [&str; 1] = ["project falcon"];

#[async_trait]
impl Policy for RestrictedList {
    async fn check(&self, question: &PolicyQuestion<'_>) -> Result<(), PolicyRefusal> {
        let Some(take) = question.take else { return Ok(()) };
        let text = take.body.as_str().to_lowercase();
        if !RESTRICTED.iter().any(|project| text.contains(project)) {
            return Ok(());
        }
        let text = "The take names a project of the restricted list.";
        // The code and the text are valid, so that this never lets a take pass.
        match PolicyRefusal::new(PolicyKind::Conflict, "restricted-list", text) {
            Ok(refusal) => Err(refusal),
            Err(_) => Ok(()),
        }
    }
}

// What this service makes of takes.

/// Follows the logs of all desks.
async fn follow(database: Config, site: Arc<Site>) {
    loop {
        if let Err(error) = follow_all(&database, &site).await {
            eprintln!("follower: {error}");
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Follows on a connection of its own, until it is lost.
async fn follow_all(database: &Config, site: &Site) -> Outcome<()> {
    let mut client = connected(database).await?;
    loop {
        for desk in site.tenants() {
            while follow_page(&mut client, desk.tenant()).await? {}
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Handles the next entries of a log, each exactly once: the cursor moves in the transaction of what they cause. Returns
/// whether there were any.
async fn follow_page(client: &mut Client, desk: &Tenant) -> Outcome<bool> {
    let id = desk.id().as_str();
    let start = "INSERT INTO cursors VALUES ($1, $2) ON CONFLICT DO NOTHING";
    client.execute(start, &[&id, &Cursor::START.to_string()]).await?;
    // The lock of the row lets one process at a time handle entries.
    let transaction = client.transaction().await?;
    let select = "SELECT cursor FROM cursors WHERE desk = $1 FOR UPDATE";
    let cursor = transaction.query_one(select, &[&id]).await?.get::<_, &str>(0).parse()?;
    let next = match desk.follow_log(cursor, 100).await? {
        Follow::Page(page) if page.entries.is_empty() && page.next == cursor => return Ok(false),
        Follow::Page(page) => {
            for entry in &page.entries {
                // A sealed take is opened by an entry of its own.
                let FollowedRecord::Take(take) = &entry.record else { continue };
                let Some(take) = take.open() else { continue };
                let draft = take.draft();
                let (member, subject) = (draft.member_id.as_str(), draft.subject_id.as_str());
                let put = "INSERT INTO stances VALUES ($1, $2, $3, $4)
                    ON CONFLICT (desk, member, subject) DO UPDATE SET stance = excluded.stance";
                let values: [&(dyn swarm_store_postgres::tokio_postgres::types::ToSql + Sync); 4] =
                    [&id, &member, &subject, &draft.stance.as_str()];
                transaction.execute(put, &values).await?;
            }
            page.next
        }
        // An operator accepted a store that had lost records: begin again with those that are left.
        Follow::OtherLog { log } => {
            transaction.execute("DELETE FROM stances WHERE desk = $1", &[&id]).await?;
            Cursor { log, ..Cursor::START }
        }
    };
    let put = "UPDATE cursors SET cursor = $2 WHERE desk = $1";
    transaction.execute(put, &[&id, &next.to_string()]).await?;
    transaction.commit().await?;
    Ok(true)
}
