//! Where `swarm member` and `swarm admin` send credentials (MANUAL.md, 13.3): to the address of the same source alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::commands::{User, desk};
use crate::harness::ADMIN;
use crate::scripted_service::ScriptedService;

/// A context of `user`'s service, in use.
fn with_context(user: &User) {
    let token = user.file("token", ADMIN);
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let url = user.url();
    user.with(&["admin", "--url", url, "--token-file", "token", "context", "add", "desk"], &[])
        .ok();
}

#[test]
fn token_of_a_context_goes_to_its_address_alone() {
    let (_program, user) = desk();
    with_context(&user);
    let other = ScriptedService::answering(r#"{"members":[],"entries":[]}"#);
    let url = &*other.url;
    for (arguments, environment) in [
        (&["admin", "--url", url, "members"][..], &[][..]),
        (&["admin", "members"], &[("SWARM_URL", url)]),
        (&["admin", "--context", "desk", "--url", url, "members"], &[]),
        (&["admin", "--context", "desk", "--url", url, "members"], &[("SWARM_ADMIN_TOKEN", ADMIN)]),
    ] {
        let ended = user.with(arguments, environment);
        let source = if arguments.contains(&"--url") { "--url" } else { "SWARM_URL" };
        for words in [source, "context desk", user.url(), "SWARM_URL and SWARM_ADMIN_TOKEN"] {
            assert!(ended.err.contains(words), "{arguments:?}: {words}: {}", ended.err);
        }
        ended.fails(4, "no token");
    }
    assert_eq!(other.requests(), Vec::<String>::new());

    // The same address in two places is one source.
    user.with(&["admin", "applications"], &[("SWARM_URL", user.url())]).ok();
    user.with(&["admin", "--url", &format!("{}/", user.url()), "applications"], &[]).ok();
}

#[test]
fn token_that_is_given_does_not_go_to_the_address_of_a_context() {
    let (_program, user) = desk();
    with_context(&user);
    let other = user.file("other", "adm_of_another_desk");
    fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
    let variable = [("SWARM_ADMIN_TOKEN", "adm_of_another_desk")];
    for (arguments, environment, source) in [
        (&["admin", "applications"][..], &variable[..], "SWARM_ADMIN_TOKEN"),
        (&["admin", "--token-file", "other", "applications"], &[], "--token-file"),
        (
            &["admin", "--context", "desk", "--token-file", "other", "applications"],
            &[],
            "--token-file",
        ),
    ] {
        let ended = user.with(arguments, environment);
        for words in [source, "context desk", user.url(), "--url and --token-file"] {
            assert!(ended.err.contains(words), "{arguments:?}: {words}: {}", ended.err);
        }
        ended.fails(2, "no service for the token");
    }
    // A context that is named is a flag, which beats the environment; the same token is no other.
    user.with(&["admin", "--context", "desk", "applications"], &variable).ok();
    user.with(&["admin", "applications"], &[("SWARM_ADMIN_TOKEN", ADMIN)]).ok();
    let both = [("SWARM_URL", user.url()), ("SWARM_ADMIN_TOKEN", "adm_of_another_desk")];
    user.with(&["admin", "applications"], &both).fails(4, "401");
}

#[test]
fn credentials_of_a_profile_go_to_its_address_alone() {
    let (_program, user) = desk();
    user.admin("subject put aurora.json").ok();
    user.admin("session convene --subject aurora --closes +3h").ok();
    user.member("key new").ok();
    user.member("apply --name Zoë --contact zoe@test.example").ok();
    user.admin("activate zoë").ok();
    let other = ScriptedService::answering(r#"{"sessions":[],"memberId":"zoe"}"#);
    let claim = user.with(&["member", "claim"], &[("SWARM_URL", &other.url)]);
    claim.fails(2, "profile default belongs to");
    user.member("claim").ok();

    user.file("memo.md", "Long.");
    let (submit, memo, apply) = (
        ["submit", "--stance", "cautious", "--confidence", "0.5"],
        ["memo", "--title", "Aurora", "memo.md"],
        ["apply", "--name", "Zoë", "--contact", "zoe@test.example"],
    );
    for verb in [&submit[..], &memo, &apply] {
        let by_flag = [&["member", "--url", &other.url], verb].concat();
        let by_variable = [&["member"], verb].concat();
        for (arguments, environment) in
            [(by_flag, &[][..]), (by_variable, &[("SWARM_URL", &*other.url)][..])]
        {
            let ended = user.with(&arguments, environment);
            for words in [user.url(), &other.url, "--profile NAME", "SWARM_URL"] {
                assert!(ended.err.contains(words), "{arguments:?}: {words}: {}", ended.err);
            }
            ended.fails(2, "profile default belongs to");
        }
    }
    assert_eq!(other.requests(), Vec::<String>::new());
    // Without an address, that of the profile.
    user.with(&[&["member"], &submit[..]].concat(), &[]).ok();
    // What needs no credential may be read anywhere.
    user.with(&["member", "sessions"], &[("SWARM_URL", &other.url)]).ok();
    assert!(other.requests().iter().all(|it| !it.to_lowercase().contains("authorization")));

    // An address of a path, as it was typed.
    let profile = user.profile("profile.json");
    let kept = fs::read_to_string(&profile).unwrap();
    fs::write(&profile, kept.replace(user.url(), &format!("{}/büro", other.url))).unwrap();
    user.with(&[&["member"], &memo[..]].concat(), &[]);
    let requests = other.requests();
    let is_sent = |it: &String| {
        it.starts_with("POST /b%C3%BCro/") && it.to_lowercase().contains("authorization")
    };
    assert!(requests.iter().any(is_sent), "{requests:?}");
}

/// A service that moved, or that is known by another address than the one that a member applied at: the profile changes its
/// address by a command of its own, after which credentials go there alone.
#[test]
fn profile_moves_to_another_address_of_its_service() {
    let (program, user) = desk();
    let member = |words: &str| user.with(&words.split(' ').collect::<Vec<_>>(), &[]);
    user.member("key new").ok();
    user.member("apply --name Zoë --contact zoe@test.example").ok();
    user.admin("activate zoë").ok();
    let other = format!("http://localhost:{}", program.client.address.port());
    let refused = user.with(&["member", "claim"], &[("SWARM_URL", &other)]);
    assert!(refused.err.contains(&format!("address {other}")), "{}", refused.err);
    refused.fails(2, "profile default belongs to");

    // A service that does not know the member is not that service: the profile stays as it is.
    let nobody = ScriptedService::responding(
        "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: 21\r\n\r\n{\"error\":\"not found\"}",
    );
    member(&format!("member address {}", nobody.url)).fails(1, "404");
    let unreached = member("member address http://127.0.0.1:9");
    assert_eq!(unreached.code, 3, "{}", unreached.err);
    let kept = fs::read_to_string(user.profile("profile.json")).unwrap();
    assert!(kept.contains(user.url()), "{kept}");

    let moved = member(&format!("member address {other}/"));
    assert!(moved.err.contains("next: swarm member claim"), "{}", moved.err);
    assert_eq!(moved.ok().trim(), other);
    member("member claim").ok();
    member("member status").ok();
    user.with(&["member", "memo", "--title", "A", "x"], &[("SWARM_URL", user.url())])
        .fails(2, &format!("profile default belongs to {other}"));
}

/// The challenge names the origin of the service, and nothing is signed for another one. The command says how to go on.
#[test]
fn claim_at_another_address_than_the_public_origin_says_what_to_do() {
    let (_program, user) = desk();
    let service = ScriptedService::answering(
        r#"{"memberId":"zoe","challenge":"https://desk.example abc","expiresAt":"2999-01-01T00:00:00.000Z"}"#,
    );
    user.member("key new").ok();
    user.with(
        &[
            "member",
            "--url",
            &service.url,
            "apply",
            "--name",
            "Zoë",
            "--contact",
            "zoe@test.example",
        ],
        &[],
    )
    .ok();
    let refused = user.with(&["member", "claim"], &[]);
    for words in [
        &*format!(
            "the challenge is for \"https://desk.example\", not for {}: nothing was signed",
            service.url
        ),
        "run: swarm member address https://desk.example",
    ] {
        assert!(refused.err.contains(words), "{words}: {}", refused.err);
    }
    refused.fails(1, "nothing was signed");
}
