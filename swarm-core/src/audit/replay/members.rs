//! Members, and the keys that the log registers for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::found::{Found, Place, or_none, shown};
use super::sessions::Sessions;
use crate::audit::endorsement::is_endorsed;
use crate::domain::json::{Object, printable, write};
use crate::domain::{Actor, Invalid, MemberId, PublicKey, Signature};

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
            let is_own = by.as_deref().is_none_or(|by| by == Actor::MEMBER.as_str());
            match (&*act, fields.text_if_any("replaces")?) {
                ("key-rotated", None) if !is_own => {
                    found.remark(true, place, &format!("operator {actor} replaced the {change}"))
                }
                ("key-rotated", Some(replaces)) if replaces != *old => {
                    found.fault(place, &format!("replaces another key than the {change}"));
                }
                ("key-rotated", Some(replaces)) => {
                    let endorsement = fields.text_if_any("endorsement")?;
                    if is_replacement(&id, key.as_deref(), &replaces, endorsement) {
                        found.remark(false, place, &format!("the member replaced the {change}"));
                    } else {
                        let text = format!("the key before did not endorse the {change}");
                        found.fault(place, &text);
                    }
                }
                ("key-rotated", None) => {
                    let text = format!("the key before did not endorse the {change}");
                    found.fault(place, &text);
                }
                _ => found.fault(place, &format!("{} changes the {change}", printable(&act))),
            }
        } else {
            let was_active = before.as_ref().is_some_and(|member| member.is_active);
            let is_removed = was_active && !is_active;
            let open = if is_removed { sessions.open_to(place, &id) } else { Vec::new() };
            let is_notable = !open.is_empty();
            let within = if is_notable {
                format!(", while open: {}", open.join(", "))
            } else {
                String::new()
            };
            found.remark(is_notable, place, &format!("{line}{within}"));
        }
        let status_before = before.map(|member| member.is_active);
        if status_before.is_some_and(|before| before != is_active) && !sets_status(&act, is_active)
        {
            found.fault(place, &format!("{} changes the status of {name}", printable(&act)));
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

/// Whether an act makes a member active, or inactive.
fn sets_status(act: &str, is_active: bool) -> bool {
    match is_active {
        true => matches!(act, "activated" | "enrolled"),
        false => matches!(act, "deactivated" | "erased"),
    }
}

/// Whether the key before signed its replacement.
fn is_replacement(
    id: &str,
    key: Option<&str>,
    replaces: &str,
    endorsement: Option<String>,
) -> bool {
    let member = MemberId::parse(id).ok();
    let keys = PublicKey::parse(replaces).ok().zip(PublicKey::parse(key.unwrap_or_default()).ok());
    let signature = endorsement.and_then(|text| Signature::parse(text).ok());
    let (Some(member), Some((before, after)), Some(signature)) = (member, keys, signature) else {
        return false;
    };
    is_endorsed(&member, &after, &before, &signature)
}
