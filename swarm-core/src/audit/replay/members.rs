//! Members, and the keys that the log registers for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::found::{Found, Place, or_none, shown};
use super::sessions::Sessions;
use crate::domain::json::{Object, printable, write};
use crate::domain::{Invalid, KeyReplacement, MemberId, PublicKey, Signature, Signed};
use crate::proof::verify;

/// The members, as the entries so far leave them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Members(BTreeMap<String, MemberReplay>);

/// A member, as its entries leave it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemberReplay {
    key: Option<String>,
    is_active: bool,
}

impl Members {
    /// Follows the key and the status of a member. A key is replaced by `key-rotated` alone.
    pub(super) fn read(
        &mut self,
        place: Place,
        mut fields: Object,
        sessions: &Sessions,
        found: &mut Found,
    ) -> Result<(), Invalid> {
        let line = shown(&write(&fields));
        let act = fields.text("act")?;
        let by = fields.text_if_any("by")?;
        let id = fields.text("id")?;
        let is_active = fields.text("status")? == "active";
        let key = fields.text_if_any("publicKey")?;
        let before = self.0.get(&id).cloned();
        let key_before = before.as_ref().and_then(|member| member.key.clone());
        let (name, actor) = (printable(&id), by.as_deref().map_or("\"member\"".into(), printable));
        if let Some(old) = key_before.as_ref().filter(|_| key.is_some() && key != key_before) {
            let change = format!(
                "key of {name} from {} to {}",
                printable(old),
                or_none(key.as_deref().map(printable))
            );
            match (&*act, fields.text_if_any("replaces")?) {
                ("key-rotated", None) => {
                    found.remark(true, place, &format!("operator {actor} replaced the {change}"))
                }
                ("key-rotated", Some(replaces)) if replaces != *old => {
                    found.fault(place, &format!("replaces another key than the {change}"));
                }
                ("key-rotated", Some(replaces)) => {
                    let endorsement = fields.text_if_any("endorsement")?;
                    let new = key.clone().unwrap_or_default();
                    if is_endorsed([&id, &new, &replaces], endorsement) {
                        found.remark(false, place, &format!("the member replaced the {change}"));
                    } else {
                        let text = format!("the key before did not endorse the {change}");
                        found.fault(place, &text);
                    }
                }
                _ => found.fault(place, &format!("{} changes the {change}", printable(&act))),
            }
        } else {
            let is_deactivated = act == "deactivated";
            let open = if is_deactivated { sessions.open_to(place, &id) } else { Vec::new() };
            let is_notable = !open.is_empty();
            let within = if is_notable {
                format!(", while open: {}", open.join(", "))
            } else {
                String::new()
            };
            found.remark(is_notable, place, &format!("{line}{within}"));
        }
        self.0.insert(id, MemberReplay { key: key.or(key_before), is_active });
        Ok(())
    }

    /// Why a member cannot have filed a take with this key now.
    pub(super) fn fault_of(&self, id: &str, key: &str) -> Option<String> {
        let Some(member) = self.0.get(id) else {
            return Some("no entry registered the member".to_owned());
        };
        if member.key.as_deref() != Some(key) {
            let (used, registered) =
                (printable(key), or_none(member.key.as_deref().map(printable)));
            return Some(format!(
                "its key {used} is not the one that the log registered, {registered}"
            ));
        }
        (!member.is_active).then(|| "the member was not active".to_owned())
    }
}

/// Returns whether the key before signed its replacement.
fn is_endorsed([id, key, replaces]: [&str; 3], endorsement: Option<String>) -> bool {
    let member_id = MemberId::parse(id).ok();
    let endorsement = endorsement.and_then(|text| Signature::parse(text).ok());
    let (Some(member_id), Some(signature), Ok(before)) =
        (member_id, endorsement, PublicKey::parse(replaces))
    else {
        return false;
    };
    let (public_key, replaces) = (key.to_owned(), replaces.to_owned());
    let payload = KeyReplacement { member_id, public_key, replaces };
    verify(&Arc::new(Signed { payload, signature }), &before).is_some()
}
