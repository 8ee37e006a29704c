//! nginx and Caddy, with their files of `deploy/`, in front of a server.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use swarm_redis_testing::wait_until;
use tempfile::TempDir;

use crate::harness::Client;

/// Where the system keeps its programs.
pub fn path() -> String {
    std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/usr/bin:/usr/local/sbin"
}

/// The text of a file in `deploy/`.
pub fn deployed(file: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy");
    fs::read_to_string(folder.join(file)).unwrap()
}

/// A configuration of nginx that includes `swarm.conf` and writes nothing outside of its folder.
pub fn nginx_configuration(folder: &Path, site: &str) -> PathBuf {
    let whole = format!(
        "pid {0}/pid; error_log stderr; events {{}} http {{ access_log off; \
         client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f; \
         uwsgi_temp_path {0}/u; scgi_temp_path {0}/s; include {0}/swarm.conf; }}",
        folder.display()
    );
    fs::write(folder.join("swarm.conf"), site).unwrap();
    fs::write(folder.join("nginx.conf"), whole).unwrap();
    folder.join("nginx.conf")
}

/// A running proxy; killed when dropped.
pub struct Proxy {
    pub name: &'static str,
    child: Child,
    pub client: Client,
    _folder: TempDir,
}

impl Proxy {
    /// Each of them in front of the server at this address.
    pub fn each_before(server: &str) -> [Self; 2] {
        [Self::nginx(server), Self::caddy(server)]
    }

    /// nginx on a free port, without TLS.
    fn nginx(server: &str) -> Self {
        let (folder, address) = (tempfile::tempdir().unwrap(), free_address());
        let site = deployed("nginx/swarm.conf").replace("127.0.0.1:8080", server);
        let site = site.replace("listen 443 ssl;", &format!("listen {address};"));
        let lines = site.lines().filter(|line| !line.trim_start().starts_with("ssl_"));
        let site: String = lines.map(|line| format!("{line}\n")).collect();
        let mut nginx = Command::new("nginx");
        nginx
            .args(["-g", "daemon off; master_process off;", "-c"])
            .arg(nginx_configuration(folder.path(), &site));
        Self::start("nginx", nginx, address, folder)
    }

    /// Caddy on a free port, without TLS.
    fn caddy(server: &str) -> Self {
        let (folder, address) = (tempfile::tempdir().unwrap(), free_address());
        let site = deployed("caddy/Caddyfile").replace("127.0.0.1:8080", server);
        let site = site.replace("acme.example {", &format!("http://{address} {{"));
        let file = folder.path().join("Caddyfile");
        fs::write(&file, format!("{{\n\tadmin off\n}}\n{site}")).unwrap();
        let mut caddy = Command::new("caddy");
        caddy.args(["run", "--adapter", "caddyfile", "--config"]).arg(file);
        caddy.env("HOME", folder.path());
        Self::start("caddy", caddy, address, folder)
    }

    fn start(
        name: &'static str,
        mut command: Command,
        address: SocketAddr,
        folder: TempDir,
    ) -> Self {
        command.env("PATH", path()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn();
        let child = child.unwrap_or_else(|error| panic!("install {name}: {error}"));
        wait_until(name, || std::net::TcpStream::connect(address).is_ok());
        Self { name, child, client: Client::new(address), _folder: folder }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}
