//! Tells the binary `swarm` its version with the commit that it is built from (`SWARM_VERSION`), and that commit alone
//! (`SWARM_BUILD_COMMIT`, empty if it is unknown).
//!
//! The commit and its date come from git. The environment variable `SWARM_COMMIT` overrides them, for sources that
//! are built without their repository.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=SWARM_COMMIT");
    // The accept loop alone shows no version.
    if env::var_os("CARGO_FEATURE_BIN").is_none() {
        return;
    }
    let given = env::var("SWARM_COMMIT").unwrap_or_default();
    let given = given.lines().next().unwrap_or_default().trim();
    let commit_and_date = match given {
        "" => checked_out_commit().unwrap_or_default(),
        given => given.to_owned(),
    };
    let commit = commit_and_date.split(' ').next().unwrap_or_default();
    let version = match env!("CARGO_PKG_VERSION") {
        number if commit.is_empty() => number.to_owned(),
        number => format!("{number} ({commit_and_date})"),
    };
    println!("cargo:rustc-env=SWARM_VERSION={version}");
    println!("cargo:rustc-env=SWARM_BUILD_COMMIT={commit}");
}

/// The commit that is checked out, and its date. `None` without git or without the repository of these sources.
fn checked_out_commit() -> Option<String> {
    // Sources that were unpacked somewhere below another repository are not of its commit.
    if git(&["rev-parse", "--show-prefix"])? != "swarm-server/" {
        return None;
    }
    // `logs/HEAD` changes with each commit, also where the file of the branch is packed.
    let branch = git(&["rev-parse", "--symbolic-full-name", "HEAD"])?;
    for name in ["HEAD", "logs/HEAD", &branch] {
        let file = git(&["rev-parse", "--git-path", name])?;
        // Cargo would run this again at each build for a file that does not exist.
        if Path::new(&file).exists() {
            println!("cargo:rerun-if-changed={file}");
        }
    }
    git(&["log", "-1", "--no-show-signature", "--abbrev=12", "--date=short", "--format=%h %cd"])
}

/// What a command of git prints.
fn git(arguments: &[&str]) -> Option<String> {
    // A hook of git sets these for its own repository.
    let mut git = Command::new("git");
    git.env_remove("GIT_DIR").env_remove("GIT_WORK_TREE").args(arguments);
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
