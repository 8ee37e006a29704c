//! Changes of members (API.md, 4 and 7.2).

use std::sync::Arc;

use swarm_core::Refusal;
use swarm_core::domain::{Actor, Application, Contact, Lens, Member, MemberState, Name, Timestamp};
use swarm_core::proof::{BearerToken, canonical};
use swarm_core::rules::{
    MemberChange, activate, admit, deactivate, may_be_read, reject, reject_competing_application,
    reset_claim, rotate,
};
use swarm_testing::{applicant, claimed, creation, key, keys, mail};

use super::{JUDGED, entry_text, now, versioned};

use MemberState::{Applied, Approved, Claimed, Inactive, Rejected};

const RANDOM: [u8; 16] = [7; 16];

/// A time long before the change.
const THEN: Option<Timestamp> = Some(Timestamp::EPOCH);

fn in_state(state: MemberState) -> Member {
    match state {
        Applied => applicant("ada"),
        Rejected => Member { state, reviewed_at: THEN, ..applicant("ada") },
        Approved => Member { state, reviewed_at: THEN, joined_at: THEN, ..applicant("ada") },
        Claimed | Inactive => Member { state, ..claimed("ada") },
    }
}

/// Asserts that the change writes this record at the judged version, with this act in the log.
fn is_change(change: &MemberChange, member: &Member, act: Option<&str>) {
    assert_eq!((&change.member, change.expected), (member, Some(JUDGED)));
    assert!(change.proven.is_none() && change.quota.is_none());
    let status = if member.state.is_active() { "active" } else { "inactive" };
    let key = member.public_key.as_ref().unwrap();
    let entry = act.map(|act| {
        format!(
            r#"{{"kind":"member","act":"{act}","by":"operator","id":"ada","status":"{status}","publicKey":"{}"}}"#,
            key
        )
    });
    assert_eq!(change.act.as_ref().map(entry_text), entry);
}

fn application() -> Application {
    Application {
        name: Name::parse("Ada").unwrap(),
        contact: Contact::parse("ada@example.org").unwrap(),
        lens: Lens::parse("value").unwrap(),
        public_key: keys("ada").public_key().to_string(),
    }
}

#[test]
fn application_is_admitted_as_signed() {
    let change = admit(&Arc::new(keys("ada").sign(application())), RANDOM, now()).unwrap();
    assert_eq!(change.member.id.as_str(), "07070707-0707-4707-8707-070707070707");
    let admitted = Member {
        id: change.member.id.clone(),
        lens: Lens::parse("value").unwrap(),
        applied_at: now(),
        ..applicant("ada")
    };
    assert_eq!((&change.member, change.expected), (&admitted, None));
    assert!(change.mail.is_none() && change.act.is_none(), "nothing is public yet");
}

#[test]
fn application_must_be_signed_with_its_own_key() {
    let weak = Application { public_key: "A".repeat(43) + "=", ..application() };
    let no_key = Application { public_key: "key".to_owned(), ..application() };
    for (signer, fields) in [("grace", application()), ("ada", weak), ("ada", no_key)] {
        let expected_payload = canonical(&fields);
        let refusal = admit(&Arc::new(keys(signer).sign(fields)), RANDOM, now()).unwrap_err();
        assert_eq!(refusal, Refusal::BadApplication { expected_payload });
    }
}

#[test]
fn key_is_held_while_applied_or_active() {
    for state in MemberState::ALL {
        let held = matches!(state, Applied | Approved | Claimed).then(|| key("ada"));
        assert_eq!(creation(&in_state(state)).held_key(), held.as_ref(), "{state}");
    }
    assert_eq!(creation(&Member { public_key: None, ..applicant("ada") }).held_key(), None);
}

#[test]
fn member_is_public_once_activated() {
    for state in MemberState::ALL {
        let was_member = matches!(state, Approved | Claimed | Inactive);
        assert_eq!(may_be_read(&in_state(state)), was_member, "{state}");
    }
    assert!(!may_be_read(&Member { joined_at: None, ..in_state(Inactive) }));
}

#[test]
fn reactivation_restores_the_state() {
    let unclaimed = Member { claimed_at: None, token: None, ..in_state(Inactive) };
    for (before, state, first) in [
        (in_state(Applied), Approved, true),
        (in_state(Rejected), Approved, true),
        (in_state(Inactive), Claimed, false),
        (unclaimed, Approved, false),
    ] {
        let greet = |member: &Member| Some(mail(member.state.as_str()));
        let change = activate(&versioned(before.clone()), greet, now(), &Actor::OPERATOR);
        let change = change.unwrap().unwrap();
        let joined_at = if first { Some(now()) } else { THEN };
        let after = Member { state, reviewed_at: Some(now()), joined_at, ..before.clone() };
        is_change(&change, &after, Some("activated"));
        assert_eq!(change.mail, first.then(|| mail(before.state.as_str())));
    }
    for active in [Approved, Claimed] {
        let active = versioned(in_state(active));
        assert!(activate(&active, |_| None, now(), &Actor::OPERATOR).unwrap().is_none());
    }
    let silent = activate(&versioned(in_state(Applied)), |_| None, now(), &Actor::OPERATOR);
    assert_eq!(silent.unwrap().unwrap().mail, None);
}

#[test]
fn only_applicants_can_be_rejected() {
    for state in MemberState::ALL {
        let before = versioned(in_state(state));
        let (rejected, competing) = (
            reject(&before, now(), &Actor::OPERATOR),
            reject_competing_application(&before, now(), &Actor::OPERATOR),
        );
        if state == Applied {
            let after = Member { state: Rejected, reviewed_at: Some(now()), ..in_state(Applied) };
            for change in [rejected.unwrap(), competing.unwrap()] {
                is_change(&change, &after, None);
                assert!(change.mail.is_none());
            }
        } else {
            assert_eq!(rejected.unwrap_err(), Refusal::MemberIs(state));
            let holder = before.record.id.clone();
            assert_eq!(competing.unwrap_err(), Refusal::KeyRegistered(holder));
        }
    }
}

#[test]
fn only_active_members_can_be_deactivated() {
    for state in MemberState::ALL {
        let change = deactivate(&versioned(in_state(state)), &Actor::OPERATOR);
        if matches!(state, Approved | Claimed) {
            let after = Member { state: Inactive, ..in_state(state) };
            is_change(&change.unwrap(), &after, Some("deactivated"));
        } else {
            assert_eq!(change.unwrap_err(), Refusal::MemberIs(state));
        }
    }
}

#[test]
fn claim_is_reset_once_it_is_claimed() {
    for state in MemberState::ALL {
        let reset = reset_claim(&versioned(in_state(state)), &Actor::OPERATOR);
        if state != Claimed {
            assert_eq!(reset.unwrap_err(), Refusal::MemberIs(state));
            continue;
        }
        let (claimed_at, token, token_claimed_at) = (None, None, None);
        let after =
            Member { state: Approved, claimed_at, token, token_claimed_at, ..in_state(Claimed) };
        is_change(&reset.unwrap(), &after, Some("claim-reset"));
    }
}

#[test]
fn rotation_requires_a_claimed_token() {
    for state in MemberState::ALL {
        for given in [None, Some(key("grace"))] {
            let before = versioned(in_state(state));
            let rotated = rotate(&before, given.clone(), RANDOM, &Actor::OPERATOR);
            if state != Claimed {
                assert_eq!(rotated.unwrap_err(), Refusal::MemberIs(state));
                continue;
            }
            let (change, token) = rotated.unwrap();
            assert_eq!(token, BearerToken::mint(&before.record.id, RANDOM));
            let public_key = Some(given.unwrap_or_else(|| key("ada")));
            let token = Some(token.hash());
            let after = Member { public_key, token, token_claimed_at: None, ..in_state(Claimed) };
            is_change(&change, &after, Some("key-rotated"));
        }
    }
}
