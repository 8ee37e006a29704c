//! Routes of what proves the log: its checkpoint, its tiles, and the proof of a take (API.md, 11.6).

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use swarm_core::proof::tile::TilePath;
use swarm_core::service::signed_log::{SignedCheckpoint, SignedLog};
use swarm_core::wire::Problem::{Busy, NotFound, UnknownPath};
use swarm_core::wire::RequestError;
use swarm_core::{SessionId, TakeId, TenantId};

use crate::request::RequestContext;
use crate::request::route::{Route, Section, Work, read};
use crate::response::caching::IMMUTABLE;
use crate::response::{Answer, ApiError, Reply};
use crate::schema::{HasSchema as _, SchemaRef, schema};

const TEXT: &str = "text/plain; charset=utf-8";

/// The number of a log, which counts as ids do.
const LOG_NUMBER: SchemaRef = SessionId::SCHEMA;

const TILE_LEVEL: SchemaRef =
    schema!("log", "TileLevel", {"type": "string", "description": "0 to 7, or entries."});

const TILE_NUMBER: SchemaRef = schema!("log", "TileNumber", {
    "type": "string",
    "description": "Groups of three digits, each but the last after an x; .p/width where it is partial."
});

/// The routes: below the address of the log, and below its name.
pub(super) fn routes() -> Vec<Route> {
    let named_tile = |path| {
        named(read(path, named_tile).with(Work::Long))
            .part(TILE_LEVEL)
            .part(TILE_NUMBER)
            .about("The same tile, below the name of the log")
            .answers(200, &["application/octet-stream"])
            .refuses(&[UnknownPath])
    };
    let named_checkpoint = |path| {
        named(read(path, named_checkpoint))
            .about("The last checkpoint of a log, below its name; also of a log that another one has replaced")
            .answers(200, &["text/plain"])
            .refuses(&[UnknownPath])
    };
    let succession = |path| {
        named(read(path, succession))
            .about(
                "The note, signed by the key of a log that ended, that names the log after it and its key; \
                 404 of one that goes on",
            )
            .answers(200, &["text/plain"])
            .refuses(&[UnknownPath])
    };
    Section::Log.rows(vec![
        read("/swarm/log/checkpoint", checkpoint)
            .about("The last checkpoint: a C2SP signed note")
            .answers(200, &["text/plain"])
            .refuses(&[UnknownPath]),
        read("/swarm/log/tile/{level}/{*number}", tile)
            .with(Work::Long)
            .part(TILE_LEVEL)
            .part(TILE_NUMBER)
            .about(
                "A tile of the log: of hashes, or of entries where the level is `entries`. A partial one is \
                 called number.p/width",
            )
            .answers(200, &["application/octet-stream"])
            .refuses(&[UnknownPath]),
        named_checkpoint("/swarm/log/{tenant}/checkpoint"),
        named_tile("/swarm/log/{tenant}/tile/{level}/{*number}"),
        named_checkpoint("/swarm/log/{tenant}/{log}/checkpoint"),
        named_tile("/swarm/log/{tenant}/{log}/tile/{level}/{*number}"),
        succession("/swarm/log/{tenant}/succession"),
        succession("/swarm/log/{tenant}/{log}/succession"),
        read("/api/swarm/takes/{id}/proof", proof)
            .with(Work::Long)
            .about("The proof that the entry of a take is in the log: a C2SP tlog-proof")
            .part(TakeId::SCHEMA)
            .answers(200, &["text/plain"])
            .refuses(&[NotFound, UnknownPath, Busy]),
    ])
}

/// A route below the name of a log, which ends with its number where it is not the first.
fn named(route: Route) -> Route {
    let route = route.part(TenantId::SCHEMA);
    if route.path.contains("/{log}/") { route.part(LOG_NUMBER) } else { route }
}

async fn checkpoint(request: RequestContext) -> Reply {
    let checkpoint = signed(&request).await?;
    Ok(Answer::new(StatusCode::OK, TEXT, checkpoint.note.to_string()))
}

/// Also of a log that another one has replaced.
async fn named_checkpoint(request: RequestContext) -> Reply {
    let (log, number) = (log(&request)?, number_named(&request, request.path.len())?);
    // A restored copy that is only read may have none but those that ended.
    if let Some(signed) = log.checkpoint().await?
        && log.number_of(&signed.checkpoint.origin) == Some(number)
    {
        return Ok(Answer::new(StatusCode::OK, TEXT, signed.note.to_string()));
    }
    let ended = log.ended(&log.origin(number)).await?.ok_or(RequestError::UnknownPath)?;
    let note = ended.last;
    Ok(Answer::new(StatusCode::OK, TEXT, note.to_string()))
}

async fn succession(request: RequestContext) -> Reply {
    let log = log(&request)?;
    let origin = log.origin(number_named(&request, request.path.len())?);
    let ended = log.ended(&origin).await?.ok_or(RequestError::UnknownPath)?;
    Ok(Answer::new(StatusCode::OK, TEXT, ended.succession.to_string()))
}

/// Caches must revalidate it: after an operator accepted the store, another log has its tiles at this address.
async fn tile(request: RequestContext) -> Reply {
    tile_answer(log(&request)?.tile(tile_path(&request.path)?).await?)
}

/// Also of a log that another one has replaced, as far as it is still there. Partial tiles are those of a checkpoint
/// that was signed once, so they never change either.
async fn named_tile(request: RequestContext) -> Reply {
    let place = request.path.len().saturating_sub(2);
    let number = number_named(&request, place)?;
    let path = tile_path(request.path.get(place..).unwrap_or_default())?;
    let mut answer = tile_answer(log(&request)?.tile_of(number, path).await?)?;
    answer.headers.insert(CACHE_CONTROL, IMMUTABLE);
    Ok(answer)
}

fn tile_path(path: &[String]) -> Result<TilePath, ApiError> {
    Ok(TilePath::parse(&path.join("/")).map_err(|_| RequestError::UnknownPath)?)
}

fn tile_answer(tile: Option<Vec<u8>>) -> Reply {
    let tile = tile.ok_or(RequestError::UnknownPath)?;
    let mut answer = Answer::empty(StatusCode::OK);
    let kind = HeaderValue::from_static("application/octet-stream");
    answer.headers.insert(CONTENT_TYPE, kind);
    Ok(Answer { body: tile.into(), ..answer })
}

/// Answers 503 with `Retry-After` until a checkpoint covers the take.
async fn proof(request: RequestContext) -> Reply {
    let take = request.take_id()?;
    request.tenant().take(take).await?;
    let proof = log(&request)?.proof_of_take(take).await?.ok_or(RequestError::Busy)?;
    Ok(Answer::new(StatusCode::OK, TEXT, proof.to_string()))
}

fn log(request: &RequestContext) -> Result<&SignedLog, ApiError> {
    request.served.signed_log().ok_or_else(|| RequestError::UnknownPath.into())
}

/// The last checkpoint. A log that was never signed has none, for a second after the first start.
async fn signed(request: &RequestContext) -> Result<SignedCheckpoint, ApiError> {
    Ok(log(request)?.checkpoint().await?.ok_or(RequestError::UnknownPath)?)
}

/// The number of the log whose name ends with the first parts of the path.
fn number_named(request: &RequestContext, parts: usize) -> Result<u64, ApiError> {
    let (log, name) = (log(request)?, request.path.get(..parts).unwrap_or_default().join("/"));
    let first = log.origin(1);
    let host = first.split_once("/swarm/log/").map(|(host, _)| host).unwrap_or_default();
    let number = log.number_of(&format!("{host}/swarm/log/{name}"));
    Ok(number.ok_or(RequestError::UnknownPath)?)
}
