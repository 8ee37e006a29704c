//! The files of `deploy/` are valid for the programs that read them, and name what exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;
use swarm_redis_testing::{Server as Redis, wait_until};

use crate::clients::python;
use crate::harness::{ADMIN, Author};
use crate::program::{Program, configuration, swarm};
use crate::proxies::{self, Proxy, deployed};
use crate::raw_http::exchange;
use crate::tenant_configuration::tenant;

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(path)
}

/// Runs a tool of the system; `None` where it does not exist.
fn tool(command: &mut Command) -> Option<Output> {
    match command.env("PATH", proxies::path()).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => panic!("{command:?}: {error}"),
    }
}

#[test]
fn dashboard_and_alerts_name_metrics_that_exist() {
    let environment = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let (program, operations) = Program::with_operations_apart(&["serve"], &environment);
    let client = &program.client;
    // A family without a value is not shown.
    client.post("/api/swarm/submit", &[], "{}").expect(401);
    client.post("/api/ic/submit", &[], "{}").expect(401);
    // Only a server with TLS has it: a test of TLS looks at it.
    let of_tls = "swarm_tls_not_after_seconds";
    let shown = || {
        let text = operations.get("/metrics").expect(200).text;
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let names = lines.filter_map(|line| line.split(['{', ' ']).next().map(str::to_owned));
        names.collect::<BTreeSet<_>>()
    };
    wait_until("the records are counted", || shown().contains("swarm_tenant_log_size"));
    let shown = shown();
    for file in ["grafana/dashboard.json", "prometheus/alerts.yml"] {
        let text = deployed(file);
        let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        let named: BTreeSet<_> = words.filter(|word| word.starts_with("swarm_")).collect();
        assert!(named.len() > 5, "{file}: {named:?}");
        for name in named.into_iter().filter(|name| *name != of_tls) {
            assert!(shown.contains(name), "{file}: no metric {name} in {shown:?}");
        }
    }
    let _: serde_json::Value = serde_json::from_str(&deployed("grafana/dashboard.json")).unwrap();
}

#[test]
fn alerts_are_valid_for_prometheus() {
    let mut check = Command::new("promtool");
    check.args(["check", "rules"]).arg(deploy("prometheus/alerts.yml"));
    let output = tool(&mut check).expect("promtool is not on the PATH: install prometheus");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn scrape_configuration_is_valid_for_prometheus_and_has_the_job_of_the_alerts() {
    let mut check = Command::new("promtool");
    check.args(["check", "config"]).arg(deploy("prometheus/prometheus.yml"));
    let output = tool(&mut check).expect("promtool is not on the PATH: install prometheus");
    assert!(output.status.success(), "{output:?}");
    assert!(deployed("prometheus/prometheus.yml").contains("job_name: swarm\n"));
    assert!(deployed("prometheus/alerts.yml").contains("up{job=\"swarm\"}"));
}

/// What the runbook of each alert names is in the manual.
#[test]
fn runbooks_of_alerts_are_in_the_manual() {
    let manual = fs::read_to_string(deploy("../OPERATING.md")).unwrap();
    let (_, incidents) = manual.split_once("## Incidents").unwrap();
    let alerts = deployed("prometheus/alerts.yml");
    let runbooks: Vec<_> = alerts
        .split("runbook: \"OPERATING.md, ")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(runbooks.len() > 15, "{runbooks:?}");
    for runbook in runbooks {
        let (section, about) = runbook.split_once(": ").unwrap_or((runbook, ""));
        assert!(manual.contains(&format!("# {section}\n")), "no section {section}");
        for word in about.split(' ').filter(|word| word.len() > 4) {
            assert!(incidents.contains(word), "{runbook}: {word}");
        }
    }
}

#[test]
fn nginx_takes_its_files() {
    for file in ["nginx/swarm.conf", "nginx/balanced.conf"] {
        nginx_takes(file);
    }
}

fn nginx_takes(file: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (certificate, key) = (path("acme.example.pem"), path("acme.example.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=acme.example"])
        .args(["-keyout", &key, "-out", &certificate])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let site = deployed(file).replace("/etc/nginx/tls", folder.path().to_str().unwrap());
    let configuration = proxies::nginx_configuration(folder.path(), &site);
    let mut test = Command::new("nginx");
    test.arg("-t").arg("-c").arg(configuration);
    let output = tool(&mut test).expect("nginx is not on the PATH: install nginx");
    assert!(output.status.success(), "{output:?}");
}

/// As it is, with the certificates that Caddy would get.
#[test]
fn caddy_takes_its_file() {
    let mut validate = Command::new("caddy");
    validate.args(["validate", "--adapter", "caddyfile", "--config"]);
    let output = tool(validate.arg(deploy("caddy/Caddyfile")));
    let output = output.expect("caddy is not on the PATH: install caddy");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn proxies_pass_the_longest_body_and_hide_what_is_for_operators() {
    let program = Program::start(&["serve", "--store=memory"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let ada = Author::join(&program.client, "Ada");
    let memo = json!({ "title": "Aurora", "body": "Long." }).to_string();
    for proxy in Proxy::each_before(&program.client.address.to_string()) {
        let (name, client) = (proxy.name, &proxy.client);
        let longest = memo.clone() + &" ".repeat((2 << 20) - memo.len());
        client.post("/api/swarm/memos", &[("authorization", &ada.bearer())], &longest).expect(201);
        for (path, status) in [("/metrics", 404), ("/readyz", 404), ("/healthz", 200)] {
            let address = client.address;
            let request =
                format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
            let answer = exchange(address, request.as_bytes());
            assert_eq!(answer.status, status, "{name}: {path}");
        }
    }
}

/// They are served below the path of each tenant too.
#[test]
fn proxies_hide_what_is_for_operators_below_a_path() {
    let origin = "public_origin = \"http://127.0.0.1/desk-24\"";
    let text = tenant("acme", origin).replace("acme.example", "127.0.0.1");
    let file = configuration("below-a-path.toml", &text);
    let config = format!("--config={}", file.display());
    let program = Program::start(&["serve", "--store=memory", &config], &[]);
    let direct = program.client.below("/desk-24");
    for id in ["metrics", "readyz"] {
        direct.get(&format!("/{id}")).expect(200);
        direct.operate("/subjects", &json!({ "id": id, "name": id })).expect(201);
        direct.convene("2026-11-21", id);
    }
    for proxy in Proxy::each_before(&program.client.address.to_string()) {
        for id in ["metrics", "readyz"] {
            let status = |path: String| {
                let asked = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
                exchange(proxy.client.address, asked.as_bytes()).status
            };
            assert_eq!(status(format!("/desk-24/{id}")), 404, "{}: {id}", proxy.name);
            for path in ["swarm/subjects", "api/swarm/subjects", "api/swarm/sessions/2026-11-21"] {
                assert_eq!(status(format!("/desk-24/{path}/{id}")), 200, "{}: {path}", proxy.name);
            }
        }
    }
}

#[test]
fn proxies_wait_longer_than_the_server_may() {
    for file in ["nginx/swarm.conf", "nginx/balanced.conf", "caddy/Caddyfile"] {
        let text = deployed(file);
        let (_, rest) = text.split_once("read_timeout ").unwrap();
        let seconds: u64 = rest.split_once('s').unwrap().0.parse().unwrap();
        assert!(seconds > 70, "{file}: {seconds}");
    }
}

/// The proxies of this test listen on ports of their own.
#[test]
fn proxies_pass_the_port_of_the_origin() {
    let arguments = ["serve", "--store=memory", "--trust-forwarded"];
    let program = Program::start(&arguments, &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    for proxy in Proxy::each_before(&program.client.address.to_string()) {
        let (name, client) = (proxy.name, &proxy.client);
        let origin = format!("http://{}", client.address);
        let manifest = client.get("/.well-known/swarm.json").expect(200).json();
        assert_eq!(manifest["origin"], origin, "{name}");
        let asked = json!({ "memberId": "ada" }).to_string();
        let given = client.post("/api/swarm/token-claim/challenge", &[], &asked).expect(200).json();
        let challenge = given["challenge"].as_str().unwrap();
        assert!(challenge.starts_with(&format!("{origin} ")), "{name}: {challenge}");
        let probe = exchange(client.address, b"GET /healthz HTTP/1.0\r\n\r\n");
        assert_eq!(probe.status, 200, "{name}");
    }
}

#[test]
fn compose_takes_its_file() {
    let mut config = Command::new("docker-compose");
    let output =
        tool(config.arg("--file").arg(deploy("docker/compose.yml")).args(["config", "-q"]));
    let output = output.expect("docker-compose is not on the PATH: install docker-compose");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The command by which the image is found healthy, on a server here and on none.
#[test]
fn health_check_of_the_image_tells_whether_the_server_answers() {
    let text = deployed("docker/Dockerfile");
    let (_, rest) = text.split_once("HEALTHCHECK").unwrap();
    let command = rest.split_once("CMD").unwrap().1.lines().next().unwrap();
    let command: Vec<String> = serde_json::from_str(command.trim()).unwrap();
    let is_healthy = |environment: &[(&str, String)]| {
        let mut check = Command::new(&command[0]);
        check.args(&command[1..]).env_remove("SWARM_LISTEN").env_remove("SWARM_METRICS_LISTEN");
        let run = check.envs(environment.iter().map(|(name, value)| (*name, value))).output();
        run.unwrap().status.success()
    };
    let listen = |address: String| ("SWARM_LISTEN", address);
    let token = [("SWARM_ADMIN_TOKEN", ADMIN)];
    let program = Program::start(&["serve", "--store=memory"], &token);
    let port = program.client.address.port();
    assert!(is_healthy(&[listen(format!("0.0.0.0:{port}"))]));
    assert!(!is_healthy(&[listen(format!("0.0.0.0:{}", swarm_redis_testing::free_port()))]));
    // Health is on the other address alone.
    let (program, operations) =
        Program::with_operations_apart(&["serve", "--store=memory"], &token);
    let port = program.client.address.port();
    assert!(!is_healthy(&[listen(format!("0.0.0.0:{port}"))]));
    let apart = ("SWARM_METRICS_LISTEN", operations.address.to_string());
    assert!(is_healthy(&[listen(format!("0.0.0.0:{port}")), apart]));
}

#[test]
fn systemd_takes_its_units() {
    let folder = tempfile::tempdir().unwrap();
    let units = [
        "swarm.service",
        "swarm-backup.service",
        "swarm-backup.timer",
        "swarm-watch@.service",
        "swarm-watch@.timer",
    ];
    for name in units {
        let text = deployed(&format!("systemd/{name}"));
        let text = text.replace("/usr/local/bin/swarm", env!("CARGO_BIN_EXE_swarm"));
        fs::write(folder.path().join(name), text).unwrap();
    }
    for unit in [
        "swarm.service",
        "swarm-backup.service",
        "swarm-backup.timer",
        "swarm-watch@desk.service",
        "swarm-watch@desk.timer",
    ] {
        let mut verify = Command::new("systemd-analyze");
        let output = tool(verify.arg("verify").arg(folder.path().join(unit)));
        let output = output.expect("systemd-analyze is not on the PATH: install systemd");
        let said = String::from_utf8_lossy(&output.stderr);
        let named = said.lines().filter(|line| line.contains("swarm")).collect::<Vec<_>>();
        assert!(named.is_empty(), "{unit}: {named:?}");
    }
}

/// Runs a program under a filter of system calls: these numbers of x86-64 are answered with an action of the kernel.
const FILTER: &str = r"
import ctypes, os, struct, sys
action, numbers, program = int(sys.argv[1]), sys.argv[2].split(','), sys.argv[3:]
# Load the number; jump to the last line at one of these; allow all others.
code = [(0x20, 0, 0, 0)]
code += [(0x15, len(numbers) - index, 0, int(number)) for index, number in enumerate(numbers)]
code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, action)]
lines = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
class Program(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('lines', ctypes.c_void_p)]
filter = Program(len(code), ctypes.addressof(lines))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(filter), 0, 0) == 0
os.execv(program[0], program)
";

/// What the unit forbids of `@resources`, as systemd does it: a page is answered, by threads of lower priority.
#[test]
#[cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    ignore = "the numbers of the calls are those of Linux on x86-64"
)]
fn server_answers_pages_under_the_filter_of_its_unit() {
    const RESOURCES: [(&str, u32); 12] = [
        ("setpriority", 141),
        ("sched_setparam", 142),
        ("sched_setscheduler", 144),
        ("setrlimit", 160),
        ("sched_setaffinity", 203),
        ("mbind", 237),
        ("set_mempolicy", 238),
        ("ioprio_set", 251),
        ("migrate_pages", 256),
        ("move_pages", 279),
        ("sched_setattr", 314),
        ("set_mempolicy_home_node", 450),
    ];
    let (kill, permission_denied) = ("2147483648", "327681");
    let unit = deployed("systemd/swarm.service");
    let action = match unit.contains("\nSystemCallErrorNumber=EPERM\n") {
        true => permission_denied,
        false => kill,
    };
    assert!(unit.contains("\nSystemCallFilter=~@privileged @resources\n"));
    let is_filtered = |name: &str| !unit.contains(&format!("\nSystemCallFilter={name}\n"));
    let numbers: Vec<_> = RESOURCES
        .iter()
        .filter(|(name, _)| is_filtered(name))
        .map(|(_, number)| number.to_string())
        .collect();
    let mut filtered = Command::new(python());
    filtered.args(["-c", FILTER, action, &numbers.join(","), env!("CARGO_BIN_EXE_swarm")]);
    filtered.args(["serve", "--store=memory"]);
    let path = std::env::var("PATH").unwrap();
    let program = Program::run(filtered, &[("SWARM_ADMIN_TOKEN", ADMIN), ("PATH", &*path)]);
    for page in ["/", "/swarm/sessions", "/api/swarm/sessions"] {
        program.client.get(page).expect(200);
    }
    assert!(program.nicenesses("swarm-worker").iter().any(|it| *it >= 10));
}

/// The command of the unit, with what its files name.
#[test]
fn unit_of_the_watcher_watches_a_log() {
    let program = Program::start(&["serve"], &[("SWARM_ADMIN_TOKEN", ADMIN)]);
    let client = &program.client;
    client.convene("2026-11-21", "aurora");
    let is_signed = || client.get("/swarm/log/checkpoint").text.lines().nth(1) != Some("0");
    wait_until("the log is signed", is_signed);
    let key = client.get("/.well-known/swarm.json").expect(200).json()["logKey"].clone();
    let unit = deployed("systemd/swarm-watch@.service");
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let state = program.folder.path().join("watched");
    let command = command
        .replace("${URL}", &format!("http://{}", client.address))
        .replace("${KEY}", key.as_str().unwrap())
        .replace("${MAX_AGE}", "1d")
        .replace("/var/lib/swarm-watch/%i", state.to_str().unwrap());
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("/usr/local/bin/swarm"));
    let output = swarm(&words.collect::<Vec<_>>(), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(state.join("mirror/checkpoint").is_file());
}

/// The commands of the backup, in their order, in a folder as the server leaves it: the store is that of the server's file. It can
/// be started twice on one day.
#[test]
fn backup_of_the_timer_is_a_dump_that_holds() {
    let text = deployed("systemd/swarm-backup.service");
    let folder = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let tenant = tenant("acme", "").replace("acme.example", "127.0.0.1");
    let file = format!("store = \"sqlite:moved.db\"\n{tenant}");
    fs::write(folder.path().join("swarm.toml"), file).unwrap();
    let arguments = ["serve", "--config=swarm.toml"];
    let program = Program::start_in(std::sync::Arc::clone(&folder), &arguments, &[]);
    program.client.convene("2026-11-21", "aurora");
    wait_until("a checkpoint is signed", || folder.path().join("swarm.key.checkpoints").exists());
    fs::create_dir(folder.path().join("backups")).unwrap();
    let commands: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_once('=').filter(|(name, _)| name.starts_with("ExecStart")))
        .map(|(_, command)| command.replace("%%", "%"))
        .collect();
    assert_eq!(commands.len(), 4, "{commands:?}");
    let environment = text.lines().find_map(|line| line.strip_prefix("Environment="));
    assert_eq!(environment, Some("SWARM_CONFIG=/etc/swarm/swarm.toml"));
    let backups = folder.path().join("backups");
    for times in 1..=2 {
        for command in &commands {
            let command = command.replace("/usr/local/bin/swarm", env!("CARGO_BIN_EXE_swarm"));
            let mut run = Command::new("bash");
            run.args(["-c", &command]).current_dir(folder.path());
            let output = run.env("SWARM_CONFIG", "swarm.toml").output().unwrap();
            assert!(output.status.success(), "{command}: {output:?}");
        }
        let kept = fs::read_dir(&backups).unwrap().map(|entry| entry.unwrap().path());
        let dumps: Vec<_> =
            kept.filter(|path| path.extension().is_some_and(|it| it == "dump")).collect();
        assert_eq!(dumps.len(), times, "{dumps:?}");
        for dump in dumps {
            assert!(fs::read_to_string(dump).unwrap().contains("aurora"));
        }
        // The name of a dump has the second.
        std::thread::sleep(std::time::Duration::from_millis(1100));
    }
    let kept = fs::read_dir(backups).unwrap();
    let names: BTreeSet<_> =
        kept.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.contains("swarm.key") && names.contains("swarm.key.checkpoints"), "{names:?}");
}

#[test]
fn redis_with_its_settings_is_one_that_loses_nothing() {
    let text = deployed("redis/redis.conf");
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
    assert!(!said.contains("store: warning"), "{said}");
    assert!(deployed("docker/compose.yml").contains("../redis/redis.conf:/etc/redis/redis.conf"));
}
