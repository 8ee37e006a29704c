//! Who signed a dump, and whether that is accepted.

use std::path::Path;

use swarm_core::domain::PublicKey;
use swarm_core::proof::DumpKey;
use swarm_core::service::dump::Totals;

use super::arguments::KeyFile;
use super::opened::usage;
use crate::command::note;
use crate::failure::CommandError;
use crate::signing_key;

/// Said of a dump that no key signs.
pub(super) const NO_KEY: &str = "not signed: there is no signing key here, so a restore cannot tell whether the dump was \
     changed (--signing-key FILE names one)";

/// What only the signature of a dump protects from changes.
const UNBOUND: &str = "Nothing shows whether it was changed where no signature of a member and no entry of the log says \
     otherwise: hashes of tokens and keys, names and contacts, mail, briefs, memos that are held, the committee's briefs";

impl KeyFile {
    /// The key in the given file, that of the configuration, or the default one. `None` if there is no default file.
    pub(super) fn resolve(
        self,
        configured: Option<&Path>,
    ) -> Result<Option<DumpKey>, CommandError> {
        signing_key::dump_key(self.signing_key.as_deref().or(configured)).map_err(usage)
    }
}

/// By whom a dump has to be signed.
pub(super) enum Signer {
    /// By this key.
    Key(PublicKey),
    /// By anybody or nobody, which is said.
    Anybody,
    /// The dump was written by this process.
    Same,
}

impl Signer {
    pub(super) fn of(key: Option<&DumpKey>, accepts_unsigned: bool) -> Self {
        match key.and_then(DumpKey::public_key).filter(|_| !accepts_unsigned) {
            Some(key) => Self::Key(key),
            None => Self::Anybody,
        }
    }

    /// Checks the signature of a dump that is valid otherwise.
    ///
    /// # Errors
    /// [`CommandError::Refused`] unless the key that has to sign it did.
    pub(super) fn check(&self, totals: &Totals) -> Result<(), CommandError> {
        let signed_by = totals.signature.as_ref().map(|signature| &signature.key);
        let refused = |why: &str| {
            Err(CommandError::Refused(format!(
                "the dump is refused: {why}. {UNBOUND}. To accept it: --unsigned"
            )))
        };
        match (self, signed_by) {
            (Self::Same, _) => {}
            (Self::Key(key), Some(signed_by)) if signed_by == key => {}
            (Self::Key(_), Some(signed_by)) => {
                let why = "it is signed by another key than this server's:";
                return refused(&format!("{why} {signed_by} (--signing-key FILE names one)"));
            }
            (Self::Key(_), None) => return refused("it is not signed"),
            (Self::Anybody, Some(signed_by)) => note(&format!(
                "warning: signed by the key {signed_by}, which was compared with no key of this server \
                 (--signing-key FILE names one). {UNBOUND}"
            )),
            (Self::Anybody, None) => note(&format!("warning: not signed. {UNBOUND}")),
        }
        Ok(())
    }
}
