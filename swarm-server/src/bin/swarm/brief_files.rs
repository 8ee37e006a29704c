//! Exports today's briefs of a committee to a folder, for a CDN. Files are replaced atomically.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use async_trait::async_trait;
use swarm_core::domain::committee::{CommitteeBrief, CommitteeMemberId, Generation};
use swarm_core::json::Json;
use swarm_core::proof::hex;
use swarm_core::service::with_causes;
use swarm_core::{CommitteeTenant, TenantId};
use swarm_http::ServedTenant;
use swarm_maintenance::{Job, Next};
use tokio::task::spawn_blocking;

use crate::Failure;
use crate::config::TenantTable;
use crate::failure::full_path;
use crate::secrets::random_bytes;

/// The export folders, of the tenants that have one.
pub(crate) fn folders(tables: &[TenantTable]) -> Result<Exports, Failure> {
    let (mut exports, mut folders) = (HashMap::new(), HashSet::new());
    for table in tables {
        let mode = table.committee.export_mode.as_deref().map(mode_of).transpose();
        let mode = mode
            .map_err(|fault| format!("tenants: {:?}: committee.export_mode {fault}", table.id))?;
        let Some(folder) = table.committee.export_to.clone() else { continue };
        let bad = |fault| format!("tenants: {:?}: committee.export_to {fault}", table.id);
        let origin = table.public_origin.clone().ok_or_else(|| bad("needs public_origin"))?;
        let whole = std::path::absolute(&folder).map_err(|_| bad("is no folder"))?;
        if !folders.insert(whole) {
            return Err(bad("is another tenant's").into());
        }
        let id = TenantId::parse(table.id.as_str());
        let id = id.map_err(|invalid| format!("tenants: {:?}: id: {}", table.id, invalid.rule))?;
        exports.insert(id, Export { folder, origin, mode });
    }
    Ok(exports)
}

/// The mode that the text names, in octal.
fn mode_of(text: &str) -> Result<u32, &'static str> {
    let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777);
    let mode = mode.ok_or("must be written as \"0644\"")?;
    match (mode & 0o600, mode & 0o022) {
        (0o600, 0) => Ok(mode),
        (0o600, _) => Err("must not let others write"),
        _ => Err("must let the server read and write"),
    }
}

/// Exports by tenant.
pub(crate) type Exports = HashMap<TenantId, Export>;

/// The tenants whose briefs could not be exported the last time, and why.
type Faults = BTreeMap<TenantId, String>;

static FAULTS: Mutex<Faults> = Mutex::new(Faults::new());

/// Remembers how an export ended, and returns the fault before.
fn note_fault(tenant: &TenantId, fault: Option<String>) -> Option<String> {
    let mut faults = FAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    match fault {
        Some(fault) => faults.insert(tenant.clone(), fault),
        None => faults.remove(tenant),
    }
}

/// The tenants whose briefs could not be exported the last time, and why.
pub(crate) fn faults() -> Faults {
    FAULTS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Forgets the faults of tenants that have no export any more.
pub(crate) fn forget_faults_but_of(exports: &Exports) {
    let mut faults = FAULTS.lock().unwrap_or_else(PoisonError::into_inner);
    faults.retain(|tenant, _| exports.contains_key(tenant));
}

/// Keeps a tenant's export folder up to date, also with briefs that another server generated.
pub(crate) struct ExportBriefs {
    exports: Arc<RwLock<Exports>>,
    /// The last export.
    written: Option<Written>,
}

/// The export, its generation of briefs, and the members that have a brief.
type Written = (Export, Option<Generation>, Vec<CommitteeMemberId>);

impl ExportBriefs {
    pub(crate) fn new(exports: Arc<RwLock<Exports>>) -> Self {
        Self { exports, written: None }
    }

    /// Exports the briefs if they have changed, and returns when today's briefs expire.
    async fn refresh(&mut self, served: &ServedTenant) -> Result<Next, Failure> {
        let id = &served.config().id;
        let export = self.exports.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned();
        let (Some(export), Some(committee)) = (export, served.committee()) else {
            return Ok(Next::Changed);
        };
        // Read before the briefs: briefs generated in between are written twice rather than missed.
        let (generation, readers) = (committee.generation().await?, committee.readers().await?);
        let (generation, stays) = generation.unzip();
        let written = Some((export.clone(), generation, readers));
        if self.written != written {
            export.write(committee).await?;
            self.written = written;
        }
        Ok(stays.map_or(Next::Changed, Next::In))
    }
}

#[async_trait]
impl Job<ServedTenant> for ExportBriefs {
    async fn round(&mut self, served: &ServedTenant) -> Next {
        let tenant = &served.config().id;
        let refreshed = self.refresh(served).await;
        let fault = refreshed.as_ref().err().map(|error| with_causes(&**error));
        let before = note_fault(tenant, fault.clone());
        match (&fault, &before) {
            // It is tried again every few seconds: each fault is logged once.
            (Some(fault), _) if before.as_ref() != Some(fault) => {
                tracing::error!(%tenant, error = fault, "briefs not exported");
            }
            (None, Some(_)) => tracing::info!(%tenant, "briefs are exported again"),
            _ => {}
        }
        refreshed.unwrap_or(Next::Soon)
    }
}

/// A tenant's export folder, and the origin of links in the briefs.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Export {
    pub(crate) folder: PathBuf,
    pub(crate) origin: String,
    /// The mode of the files. Who may read them may also enter the folder.
    pub(crate) mode: Option<u32>,
}

impl Export {
    /// Writes today's briefs to the folder, and returns how many there are.
    pub(crate) async fn write(&self, committee: &CommitteeTenant) -> Result<usize, Failure> {
        let briefs = committee.briefs().await?;
        let file = |brief: &CommitteeBrief| {
            (format!("{}.json", brief.member_id), brief.text(&self.origin))
        };
        let files: Vec<_> = briefs.iter().map(|brief| file(brief)).collect();
        let (folder, mode, mark) = (self.folder.clone(), self.mode, hex(&random_bytes()?));
        let named = full_path(&folder).display().to_string();
        let written = spawn_blocking(move || write(&folder, mode, &files, &mark)).await?;
        written.map_err(|error| format!("{named}: {error}"))?;
        Ok(briefs.len())
    }
}

/// Writes the files to the folder, each to a temporary file that is then renamed, and removes all other
/// briefs. Several servers may write at once: names of temporary files contain the writer's `mark`.
fn write(
    folder: &Path,
    mode: Option<u32>,
    files: &[(String, String)],
    mark: &str,
) -> io::Result<()> {
    let is_new = !folder.exists();
    fs::create_dir_all(folder)?;
    // The mode of a folder that somebody else made is theirs to set.
    if let Some(mode) = mode.filter(|_| is_new) {
        let of_folder = mode | 0o700 | ((mode & 0o044) >> 2);
        fs::set_permissions(folder, Permissions::from_mode(of_folder))?;
    }
    for (name, text) in files {
        let unfinished = folder.join(format!(".{name}.{mark}"));
        let written = write_through(&unfinished, mode, text);
        let placed = written.and_then(|()| fs::rename(&unfinished, folder.join(name)));
        placed.inspect_err(|_| drop(fs::remove_file(&unfinished)))?;
    }
    let kept: HashSet<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let wanted = entry.file_name().to_str().is_some_and(|name| kept.contains(name));
        if !wanted && is_brief(&entry.path()) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// Writes a file and syncs it, so that it is complete even after a crash.
fn write_through(path: &Path, mode: Option<u32>, text: &str) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(text.as_bytes())?;
    if let Some(mode) = mode {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

/// Whether this file is a brief, which is named after its member. Other files are kept.
fn is_brief(file: &Path) -> bool {
    let named = file.extension().is_some_and(|extension| extension == "json");
    let brief = named.then(|| fs::read(file).ok()).flatten();
    let brief = brief.and_then(|brief| Json::read(&brief).ok());
    let member = brief.and_then(|brief| brief.into_object().take("member"));
    let id = member.and_then(|member| member.into_object().text("id").ok());
    id.is_some_and(|id| file.file_stem() == Some(OsStr::new(&id)))
}

/// Removes a file that another server may have removed already.
fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test panics")]
mod tests {
    use super::*;

    use swarm_core::domain::committee::{CommitteeMemberDraft, CommitteeStatus, GenerationOrder};
    use swarm_core::domain::{Actor, Subject};
    use swarm_core::json::Object;
    use swarm_core::{CommitteeSettings, Committees, Swarm, SystemEntropy};
    use swarm_http::{AdminTokens, Site, TenantConfig};
    use swarm_store_memory::MemoryStore;
    use tempfile::TempDir;

    #[tokio::test]
    async fn folder_is_written_once_per_generation() {
        let mut exported = Exported::new().await;
        for hours in [1, 2] {
            exported.generate(hours).await;
            exported.refresh().await;
            fs::remove_file(&exported.brief).unwrap();
            exported.refresh().await;
            assert!(!exported.brief.exists());
        }
    }

    #[tokio::test]
    async fn file_exists_only_while_member_is_active() {
        let mut exported = Exported::new().await;
        exported.generate(1).await;
        for (status, there) in
            [("active", true), ("inactive", false), ("inactive", false), ("active", true)]
        {
            let status = CommitteeStatus::parse(status).unwrap();
            exported
                .committee
                .set_member_status(&exported.ada, status, &Actor::OPERATOR)
                .await
                .unwrap();
            exported.refresh().await;
            assert_eq!(exported.brief.exists(), there, "{status}");
        }
    }

    /// Servers share a folder, each with briefs of another generation.
    #[test]
    fn concurrent_writers_never_leave_partial_files() {
        let folder = tempfile::tempdir().unwrap();
        let texts = ["a".repeat(100_000), "b".repeat(50_000)];
        let write_often = |writer: usize| {
            let names = ["ada.json", "bob.json"].into_iter().take(1 + writer % 2);
            let files: Vec<_> =
                names.map(|name| (name.to_owned(), texts[writer % 2].clone())).collect();
            (0..100).for_each(|_| write(folder.path(), None, &files, &writer.to_string()).unwrap());
        };
        std::thread::scope(|scope| {
            let writers = [0, 1, 2, 3].map(|writer| scope.spawn(move || write_often(writer)));
            while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                let read = fs::read_to_string(folder.path().join("ada.json"));
                assert!(read.is_err() || texts.contains(&read.unwrap()));
            }
        });
    }

    #[test]
    fn files_have_the_mode_of_the_setting() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("briefs");
        let files = [("ada.json".to_owned(), "{}".to_owned())];
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        write(&folder, Some(0o640), &files, "a").unwrap();
        assert_eq!((mode(&folder), mode(&folder.join("ada.json"))), (0o750, 0o640));
        // That of a folder that is there stays.
        write(&folder, Some(0o644), &files, "b").unwrap();
        assert_eq!((mode(&folder), mode(&folder.join("ada.json"))), (0o750, 0o644));
        for (text, fault) in [
            ("644", None),
            ("0600", None),
            ("0666", Some("must not let others write")),
            ("0444", Some("must let the server read and write")),
            ("rw-r--r--", Some("must be written as \"0644\"")),
            ("1644", Some("must be written as \"0644\"")),
        ] {
            assert_eq!(mode_of(text).err(), fault, "{text}");
        }
    }

    /// A tenant with a committee of one member, Ada, and an export folder.
    struct Exported {
        _folder: TempDir,
        brief: PathBuf,
        ada: CommitteeMemberId,
        committee: CommitteeTenant,
        served: Arc<ServedTenant>,
        job: ExportBriefs,
    }

    impl Exported {
        async fn new() -> Self {
            let (store, tenant) = (MemoryStore::new(), TenantId::parse("acme").unwrap());
            let subject = Subject::read(&mut fields(r#"{"id":"aurora","name":"Aurora"}"#)).unwrap();
            let swarm = Swarm::new(store.clone(), SystemEntropy);
            swarm.tenant(&tenant).put_subject(&subject, &Actor::SCHEDULE).await.unwrap();
            let committees = Committees::new(store, SystemEntropy);
            let committee = committees.tenant(&tenant, CommitteeSettings::default());
            let mut ada = fields(r#"{"id":"ada","name":"Ada"}"#);
            let ada = CommitteeMemberDraft::read(&mut ada).unwrap();
            committee.create_member(&ada, &Actor::OPERATOR).await.unwrap();
            let folder = tempfile::tempdir().unwrap();
            let (origin, brief) =
                ("https://acme.example".to_owned(), folder.path().join("ada.json"));
            let export = Export { folder: folder.path().to_owned(), origin, mode: None };
            let exports = Arc::new(RwLock::new(HashMap::from([(tenant.clone(), export)])));
            let config = TenantConfig::new(tenant.clone(), AdminTokens::new());
            let served = Site::single((swarm, committees), config).tenant(&tenant).unwrap();
            let job = ExportBriefs::new(exports);
            Self { _folder: folder, brief, ada: ada.id, committee, served, job }
        }

        /// With a deadline so far ahead that the briefs do not expire at midnight during the test.
        async fn generate(&self, hours: i64) {
            let deadline = self.committee.now().await.unwrap().plus_millis(hours * 3_600_000);
            let order = GenerationOrder { subject_id: None, deadline: Some(deadline) };
            self.committee.generate(&order, &Actor::SCHEDULE).await.unwrap();
        }

        async fn refresh(&mut self) {
            self.job.refresh(&self.served).await.unwrap();
        }
    }

    fn fields(json: &str) -> Object {
        Json::read(json.as_bytes()).unwrap().into_object()
    }
}
