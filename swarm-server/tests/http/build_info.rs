//! The version of the binary and the commit that it was built from: on the command line, in the log and in the metrics.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use crate::harness::ADMIN;
use crate::program::{Program, swarm};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn version_names_the_commit() {
    let output = swarm(&["--version"], &[]).output().unwrap();
    let expected = format!("swarm {}\n", version_and_commit(&commit_and_date()));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn log_begins_with_the_version() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let (_, log) = program.stop("TERM");
    let expected = format!("starting version=\"{}\"", version_and_commit(&commit_and_date()));
    assert!(log.lines().next().unwrap().ends_with(&expected), "{expected}: {log}");
}

#[test]
fn metrics_have_the_version_and_the_commit() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let metrics = program.client.get("/metrics").expect(200).text;
    let found = commit_and_date();
    let commit = found.split(' ').next().unwrap();
    let expected = format!("swarm_build_info{{version=\"{VERSION}\",commit=\"{commit}\"}} 1");
    assert!(metrics.lines().any(|line| line == expected), "{expected}: {metrics}");
}

#[test]
fn build_script_finds_the_commit_of_its_own_repository_alone() {
    let folder = tempfile::tempdir().unwrap();
    let script = BuildScript::compiled(folder.path());

    let outside = folder.path().join("outside/swarm-server");
    fs::create_dir_all(&outside).unwrap();
    assert_eq!(script.run(&outside, ""), [VERSION, ""]);
    let given = "0123456789ab 2026-11-27";
    let expected = format!("{VERSION} ({given})");
    assert_eq!(script.run(&outside, given), [&*expected, "0123456789ab"]);
    let expected = format!("{VERSION} (0123456789ab)");
    assert_eq!(script.run(&outside, "0123456789ab\n"), [&*expected, "0123456789ab"]);

    // In a worktree `.git` is a file.
    let (repository, worktree) = (folder.path().join("main"), folder.path().join("worktree"));
    fs::create_dir_all(repository.join("swarm-server")).unwrap();
    fs::create_dir_all(repository.join("sources/swarm-server")).unwrap();
    git(&repository, &["init", "--quiet"]);
    fs::write(repository.join("swarm-server/file"), "").unwrap();
    git(&repository, &["add", "."]);
    git(&repository, &["commit", "--quiet", "--message", "First"]);
    git(&repository, &["worktree", "add", "--quiet", "../worktree"]);
    let commit = git(&worktree, &["rev-parse", "--short=12", "HEAD"]);
    let expected = format!("{VERSION} ({commit} 2026-11-27)");
    for checkout in [&repository, &worktree] {
        let built_in = checkout.join("swarm-server");
        assert_eq!(script.run(&built_in, ""), [&*expected, &*commit]);
        assert_eq!(script.run(&built_in, given)[1], "0123456789ab");
    }
    assert_eq!(script.run(&repository.join("sources/swarm-server"), ""), [VERSION, ""]);

    // The next commit changes a file that cargo watches.
    let watched = script.watched(&worktree.join("swarm-server"));
    let read = || watched.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    let before = read();
    git(&worktree, &["commit", "--quiet", "--allow-empty", "--message", "Second"]);
    assert_ne!(read(), before, "{watched:?}");
}

/// `build.rs`, compiled.
struct BuildScript<'a>(&'a Path);

impl<'a> BuildScript<'a> {
    fn compiled(folder: &'a Path) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs");
        let mut rustc = Command::new(env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned()));
        rustc.args(["--edition=2024", "-o"]).arg(folder.join("script")).arg(script);
        assert!(rustc.env("CARGO_PKG_VERSION", VERSION).status().unwrap().success());
        Self(folder)
    }

    /// The version and the commit that it finds in a folder, where `SWARM_COMMIT` is set to this.
    fn run(&self, folder: &Path, commit: &str) -> [String; 2] {
        let printed = self.printed(folder, commit);
        ["SWARM_VERSION", "SWARM_BUILD_COMMIT"].map(|name| {
            let name = format!("cargo:rustc-env={name}=");
            printed.lines().find_map(|line| line.strip_prefix(&name)).expect(&printed).to_owned()
        })
    }

    /// The files whose changes make cargo run it again.
    fn watched(&self, folder: &Path) -> Vec<std::path::PathBuf> {
        let printed = self.printed(folder, "");
        let files = printed.lines().filter_map(|line| line.strip_prefix("cargo:rerun-if-changed="));
        files.map(|file| folder.join(file)).collect()
    }

    fn printed(&self, folder: &Path, commit: &str) -> String {
        let mut script = Command::new(self.0.join("script"));
        script.env("CARGO_FEATURE_BIN", "1").env("SWARM_COMMIT", commit).current_dir(folder);
        String::from_utf8(script.output().unwrap().stdout).unwrap()
    }
}

/// What a version text has after the name of the program.
fn version_and_commit(commit_and_date: &str) -> String {
    if commit_and_date.is_empty() {
        return VERSION.to_owned();
    }
    format!("{VERSION} ({commit_and_date})")
}

/// The commit of these sources and its date; empty if they are not in a repository.
fn commit_and_date() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    match env::var("SWARM_COMMIT") {
        Ok(given) if !given.is_empty() => given,
        _ if !root.join(".git").exists() => String::new(),
        _ => git(root, &["log", "-1", "--abbrev=12", "--date=short", "--format=%h %cd"]),
    }
}

/// Runs git in a folder; returns what it prints.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
    git.args(arguments).current_dir(folder);
    git.env("GIT_AUTHOR_DATE", "2026-11-27T12:00:00Z");
    git.env("GIT_COMMITTER_DATE", "2026-11-27T12:00:00Z");
    let output = git.output().expect("git is not on the PATH");
    assert!(output.status.success(), "{git:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
