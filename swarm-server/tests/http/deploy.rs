//! The files of `deploy/` are valid for the programs that read them, and name what exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use swarm_redis_testing::{Server as Redis, wait_until};

use crate::harness::ADMIN;
use crate::program::{Program, swarm};

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(path)
}

fn read(path: &str) -> String {
    fs::read_to_string(deploy(path)).unwrap()
}

/// Runs a tool of the system; `None` where it does not exist.
fn tool(command: &mut Command) -> Option<Output> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/usr/bin:/usr/local/sbin";
    match command.env("PATH", path).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => panic!("{command:?}: {error}"),
    }
}

#[test]
fn dashboard_and_alerts_name_metrics_that_exist() {
    let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    // A family without a value is not shown.
    client.post("/api/swarm/submit", &[], "{}").expect(401);
    client.post("/api/ic/submit", &[], "{}").expect(401);
    let shown = || {
        let text = client.get("/metrics").expect(200).text;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let names = lines.filter_map(|line| line.split(['{', ' ']).next().map(str::to_owned));
        names.collect::<BTreeSet<_>>()
    };
    wait_until("the records are counted", || shown().contains("swarm_tenant_log_size"));
    let shown = shown();
    for file in ["grafana/dashboard.json", "prometheus/alerts.yml"] {
        let text = read(file);
        let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        let named: BTreeSet<_> = words.filter(|word| word.starts_with("swarm_")).collect();
        assert!(named.len() > 5, "{file}: {named:?}");
        for name in named {
            assert!(shown.contains(name), "{file}: no metric {name} in {shown:?}");
        }
    }
    let _: serde_json::Value = serde_json::from_str(&read("grafana/dashboard.json")).unwrap();
}

#[test]
fn alerts_are_valid_for_prometheus() {
    let mut check = Command::new("promtool");
    check.args(["check", "rules"]).arg(deploy("prometheus/alerts.yml"));
    let output = tool(&mut check).expect("promtool is not on the PATH: install prometheus");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn nginx_takes_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (path("acme.example.pem"), path("acme.example.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=acme.example"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let site = read("nginx/swarm.conf").replace("/etc/nginx/tls", folder.path().to_str().unwrap());
    fs::write(path("swarm.conf"), site).unwrap();
    let whole = format!(
        "pid {0}/pid; error_log stderr; events {{}} http {{ access_log off; \
         client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f; \
         uwsgi_temp_path {0}/u; scgi_temp_path {0}/s; include {0}/swarm.conf; }}",
        folder.path().display()
    );
    fs::write(path("nginx.conf"), whole).unwrap();
    let mut test = Command::new("nginx");
    test.args(["-t", "-c", &path("nginx.conf")]);
    let output = tool(&mut test).expect("nginx is not on the PATH: install nginx");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn systemd_takes_its_unit() {
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("swarm.service");
    let text = read("systemd/swarm.service");
    fs::write(&unit, text.replace("/usr/local/bin/swarm", env!("CARGO_BIN_EXE_swarm"))).unwrap();
    let mut verify = Command::new("systemd-analyze");
    let Some(output) = tool(verify.arg("verify").arg(&unit)) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("swarm.service"), "{said}");
}

#[test]
fn redis_with_its_settings_is_one_that_loses_nothing() {
    let text = read("redis/redis.conf");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let options: Vec<_> = lines
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| !["dir", "save"].contains(name))
        .flat_map(|(name, value)| [format!("--{name}"), value.to_owned()])
        .collect();
    let redis = Redis::start(&options.iter().map(String::as_str).collect::<Vec<_>>());
    let store = format!("--store={}?strict=true", redis.url());
    let output = swarm(&["check", "--connect", &store], &[]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains("store: answers"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    assert!(read("docker/compose.yml").contains("../redis/redis.conf:/etc/redis/redis.conf"));
}
