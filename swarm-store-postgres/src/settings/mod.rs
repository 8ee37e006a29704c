//! Parses the address of a database, as libpq does, and the environment variables that complete it.

mod address;
mod passfile;
mod servers;
mod service;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::failure::{Failure, Outcome};
use crate::options::Options;

use servers::Places;
pub(crate) use servers::Server;

/// The environment variables that stand in for a parameter that the address does not have.
const VARIABLES: [(&str, &str); 27] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGAPPNAME", "application_name"),
    ("PGOPTIONS", "options"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGGSSENCMODE", "gssencmode"),
    ("PGREQUIREAUTH", "require_auth"),
    ("PGREQUIREPEER", "requirepeer"),
    ("PGMINPROTOCOLVERSION", "min_protocol_version"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLCERTMODE", "sslcertmode"),
    ("PGSSLCRL", "sslcrl"),
    ("PGSSLCRLDIR", "sslcrldir"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLMAXPROTOCOLVERSION", "ssl_max_protocol_version"),
    ("PGSSLMINPROTOCOLVERSION", "ssl_min_protocol_version"),
    ("PGSSLNEGOTIATION", "sslnegotiation"),
    ("PGSSLSNI", "sslsni"),
];

/// The parameters of libpq that are not supported here. Most of them say to whom a connection must not be made.
const UNSUPPORTED: [&str; 7] =
    ["require_auth", "requirepeer", "sslcert", "sslcrl", "sslcrldir", "sslkey", "sslpassword"];

/// An address, parsed. The configuration of its servers may hold a password.
#[derive(Clone)]
pub(crate) struct Settings {
    /// The settings that all servers have in common.
    pub(crate) config: Config,
    pub(crate) servers: Vec<Server>,
    #[cfg_attr(not(feature = "tls"), allow(dead_code, reason = "only TLS reads it"))]
    pub(crate) tls: Tls,
    pub(crate) options: Options,
    /// Why a file with passwords is left out, if one is.
    pub(crate) left_out: Option<String>,
}

/// What is verified of the server's certificate, if TLS is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tls {
    pub(crate) verify: Verify,
    /// The file with the authorities, or `system`; `None`: those of the operating system.
    pub(crate) root_certificate: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verify {
    Nothing,
    Authority,
    AuthorityAndName,
}

impl Settings {
    /// Parses `postgres://[user[:password]@][host[:port],…][/database][?parameters]`. `variable` reads an
    /// environment variable. Errors name the parameter, never the address.
    pub(crate) fn parse(url: &str, variable: impl Fn(&str) -> Option<String>) -> Outcome<Self> {
        let mut parsed = Parsed::default();
        let mut given = address::parameters(url)?;
        let service = given.remove("service").or_else(|| variable("PGSERVICE"));
        if let Some(service) = service.filter(|name| !name.is_empty()) {
            for (name, value) in service::parameters(&service, &variable)? {
                given.entry(name).or_insert(value);
            }
        }
        for (name, value) in &given {
            parsed.set(name, value)?;
        }
        for (name, parameter) in VARIABLES {
            let value = variable(name).filter(|value| !value.is_empty());
            if let Some(value) = value.filter(|_| !given.contains_key(parameter)) {
                parsed.set(parameter, &value)?;
            }
        }
        // From the time before there were modes.
        let requires = variable("PGREQUIRESSL").is_some_and(|value| value.starts_with('1'));
        if requires && parsed.ssl_mode.is_none() {
            parsed.ssl_mode = Some("require".to_owned());
        }
        parsed.complete(variable)
    }
}

/// The error of a parameter that asks for protection, and which is given in this place.
fn unsupported(name: &str, place: &str) -> Failure {
    Failure::misconfigured(format!(
        "{name} is not supported, and Swarm does not connect without what it asks for: remove it from {place}"
    ))
}

fn config(address: &str) -> Outcome<Config> {
    Config::from_str(address).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        Failure::misconfigured(cause.unwrap_or_else(|| "no address of a database".to_owned()))
    })
}

/// The parameters read so far.
#[derive(Default)]
struct Parsed {
    places: Places,
    /// The parameters that the client library reads.
    passed: Vec<(String, String)>,
    ssl_mode: Option<String>,
    root_certificate: Option<PathBuf>,
    passfile: Option<PathBuf>,
    /// The name of the application, if there is no other.
    fallback_name: Option<String>,
    options: Options,
}

impl Parsed {
    fn set(&mut self, name: &str, value: &str) -> Outcome<()> {
        match name {
            // As libpq: an empty one is as good as none.
            "user"
            | "password"
            | "dbname"
            | "sslrootcert"
            | "sslcertmode"
            | "sslnegotiation"
            | "sslsni"
            | "min_protocol_version"
            | "ssl_min_protocol_version"
            | "ssl_max_protocol_version"
            | "passfile"
                if value.is_empty() => {}
            name if UNSUPPORTED.contains(&name) => {
                if !value.is_empty() {
                    return Err(unsupported(name, "the address, the service or the environment"));
                }
            }
            "strict" => {
                self.options.strict =
                    value.parse().map_err(|_| Failure::invalid(name, "true or false"))?;
            }
            "schema" => self.options = std::mem::take(&mut self.options).with_schema(value)?,
            "host" => value.clone_into(&mut self.places.hosts),
            "hostaddr" => value.clone_into(&mut self.places.addresses),
            "port" => value.clone_into(&mut self.places.ports),
            "pool" => {
                let size = value.parse().ok().filter(|size| (1..=1_000).contains(size));
                self.options.pool_size =
                    size.ok_or_else(|| Failure::invalid(name, "from 1 to 1000"))?;
            }
            "statement_timeout" => {
                let seconds = value.parse().ok().filter(|seconds| (1..=60).contains(seconds));
                let seconds =
                    seconds.ok_or_else(|| Failure::invalid(name, "from 1 to 60 seconds"))?;
                self.options.statement_timeout = Duration::from_secs(seconds);
            }
            "sslmode" => self.ssl_mode = Some(value.to_owned()),
            "sslrootcert" => self.root_certificate = Some(PathBuf::from(value)),
            "passfile" => self.passfile = Some(PathBuf::from(value)),
            // `any` is the default of libpq.
            "target_session_attrs" if matches!(value, "any" | "read-write" | "primary") => {}
            "target_session_attrs" => {
                return Err(Failure::invalid(name, "read-write: Swarm writes"));
            }
            "gssencmode" if matches!(value, "disable" | "prefer") => {}
            "gssencmode" => {
                return Err(Failure::invalid(name, "disable or prefer: Swarm has no GSSAPI"));
            }
            "min_protocol_version" if value == "3.0" => {}
            "min_protocol_version" => return Err(Failure::invalid(name, "3.0")),
            // What TLS does here anyway.
            "sslsni" if value == "1" => {}
            "sslsni" => return Err(Failure::invalid(name, "1")),
            "ssl_min_protocol_version" if matches!(value, "TLSv1" | "TLSv1.1" | "TLSv1.2") => {}
            "ssl_min_protocol_version" => {
                return Err(Failure::invalid(name, "at most TLSv1.2"));
            }
            "ssl_max_protocol_version" if value == "TLSv1.3" => {}
            "ssl_max_protocol_version" => return Err(Failure::invalid(name, "TLSv1.3")),
            "sslcertmode" if matches!(value, "disable" | "allow") => {}
            "sslcertmode" => {
                let modes = "disable or allow: Swarm has no client certificates";
                return Err(Failure::invalid(name, modes));
            }
            // They are for GSSAPI, or for what TLS has no more.
            "krbsrvname" | "gsslib" | "gssdelegation" | "sslcompression" => {}
            "client_encoding" => {
                let is_utf8 = ["utf8", "utf-8", "unicode", "auto"]
                    .iter()
                    .any(|encoding| value.eq_ignore_ascii_case(encoding));
                if !is_utf8 {
                    return Err(Failure::invalid(name, "UTF8"));
                }
            }
            "fallback_application_name" => self.fallback_name = Some(value.to_owned()),
            // The client library has another name for it.
            "keepalives_count" => self.pass("keepalives_retries", value),
            _ => self.pass(name, value),
        }
        Ok(())
    }

    fn pass(&mut self, name: &str, value: &str) {
        self.passed.push((name.to_owned(), value.to_owned()));
    }

    fn complete(self, variable: impl Fn(&str) -> Option<String>) -> Outcome<Settings> {
        let encoded = |(name, value): &(String, String)| {
            format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
        };
        let passed: Vec<_> = self.passed.iter().map(encoded).collect();
        let mut config = config(&format!("postgres://?{}", passed.join("&")))?;
        let home = |file| Some(PathBuf::from(variable("HOME")?).join(file));
        let own = || home(".postgresql/root.crt").filter(|file| file.exists());
        let root_certificate = self.root_certificate.or_else(own);
        let is_system = root_certificate.as_deref() == Some(Path::new("system"));
        let mode = match self.ssl_mode.as_deref() {
            // As libpq: whatever the system trusts may be anybody's.
            Some(mode) if is_system && mode != "verify-full" => {
                return Err(Failure::invalid("sslmode", "verify-full with sslrootcert=system"));
            }
            Some(mode) => mode,
            None if is_system => "verify-full",
            None => "prefer",
        };
        let (mode, verify) = match mode {
            "disable" => (SslMode::Disable, Verify::Nothing),
            "allow" | "prefer" => (SslMode::Prefer, Verify::Nothing),
            "require" | "verify-ca" | "verify-full" if !cfg!(feature = "tls") => {
                let modes = "disable, allow or prefer: this build has no TLS (feature `tls`)";
                return Err(Failure::invalid("sslmode", modes));
            }
            // As libpq: with a root certificate it is verify-ca.
            "require" if root_certificate.is_some() => (SslMode::Require, Verify::Authority),
            "require" => (SslMode::Require, Verify::Nothing),
            "verify-ca" => (SslMode::Require, Verify::Authority),
            "verify-full" => (SslMode::Require, Verify::AuthorityAndName),
            _ => {
                let modes = "disable, allow, prefer, require, verify-ca or verify-full";
                return Err(Failure::invalid("sslmode", modes));
            }
        };
        let verifies_by_file =
            verify != Verify::Nothing && root_certificate.is_some() && !is_system;
        if verifies_by_file
            && let Some(file) = home(".postgresql/root.crl").filter(|file| file.exists())
        {
            return Err(unsupported("sslcrl", &file.display().to_string()));
        }
        config.ssl_mode(mode);
        if config.get_application_name().is_none() {
            config.application_name(self.fallback_name.as_deref().unwrap_or("swarm"));
        }
        config.tcp_user_timeout(self.options.statement_timeout);
        let mut servers = self.places.servers(&config)?;
        let mut left_out = None;
        if config.get_password().is_none()
            && let Some(file) = self.passfile.or_else(|| home(".pgpass"))
        {
            left_out = passfile::apply(&file, &mut servers)?;
        }
        Ok(Settings {
            config,
            servers,
            tls: Tls { verify, root_certificate },
            options: self.options,
            left_out,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str, environment: &[(&str, &str)]) -> Outcome<Settings> {
        let variable = |name: &str| {
            environment.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
        };
        Settings::parse(url, variable)
    }

    fn names(settings: &Settings) -> Vec<String> {
        settings.servers.iter().map(|server| crate::connect::names(&server.config)).collect()
    }

    #[test]
    fn parameters_of_libpq_are_understood() {
        let url = "postgres://ada:pw@a:1,b:2/desk?sslmode=verify-full&sslrootcert=%2Fca.pem&schema=s\
                   &pool=3&connect_timeout=2&statement_timeout=9&application_name=x%20y&strict=true\
                   &target_session_attrs=read-write";
        let read = parse(url, &[("PGHOST", "ignored"), ("PGPASSWORD", "ignored")]).unwrap();
        assert_eq!(names(&read), ["a:1", "b:2"]);
        assert_eq!(read.config.get_dbname(), Some("desk"));
        assert_eq!(read.config.get_password(), Some(&b"pw"[..]));
        assert_eq!(read.config.get_application_name(), Some("x y"));
        assert_eq!(read.config.get_ssl_mode(), SslMode::Require);
        let root_certificate = Some(PathBuf::from("/ca.pem"));
        assert_eq!(read.tls, Tls { verify: Verify::AuthorityAndName, root_certificate });
        assert_eq!((read.options.pool_size, read.options.strict), (3, true));
        assert_eq!(read.options.statement_timeout, Duration::from_secs(9));
    }

    #[test]
    fn parameters_of_libpq_that_change_nothing_are_accepted() {
        let url = "postgres://db/desk?gssencmode=disable&client_encoding=UTF8&krbsrvname=postgres\
                   &sslcompression=0&fallback_application_name=desk&require_auth=&sslcertmode=allow\
                   &sslnegotiation=postgres&ssl_max_protocol_version=TLSv1.3&sslrootcert=";
        let read = parse(url, &[]).unwrap();
        assert_eq!(read.config.get_application_name(), Some("desk"));
        let named = format!("{url}&application_name=x");
        let read = parse(&named, &[]).unwrap();
        assert_eq!(read.config.get_application_name(), Some("x"));
    }

    #[test]
    fn environment_completes_the_address() {
        let environment =
            [("PGHOST", "db"), ("PGPORT", "6432"), ("PGDATABASE", "d e"), ("PGUSER", "ada")];
        let read = parse("postgres://", &environment).unwrap();
        assert_eq!(names(&read), ["db:6432"]);
        assert_eq!(read.config.get_dbname(), Some("d e"));
        assert_eq!(read.config.get_user(), Some("ada"));
    }

    #[test]
    fn service_completes_the_address_before_the_environment() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text =
            "# Desks\n[other]\nhost=no\n[desk]\nhost = db\n#port=1\ndbname=desk\n[last]\nuser=no\n";
        std::fs::write(file.path(), text).unwrap();
        let path = file.path().to_str().unwrap();
        let environment = [("PGSERVICEFILE", path), ("PGHOST", "no"), ("PGUSER", "ada")];
        let named = [&environment[..], &[("PGSERVICE", "desk")]].concat();
        for (url, environment) in
            [("postgres://:7/?service=desk", &environment[..]), ("postgres://:7", &named)]
        {
            let read = parse(url, environment).unwrap();
            assert_eq!(names(&read), ["db:7"], "{url}");
            assert_eq!(read.config.get_dbname(), Some("desk"));
            assert_eq!(read.config.get_user(), Some("ada"));
        }
        let folder = file.path().parent().unwrap().to_str().unwrap();
        for (url, variable) in [
            ("postgres://?service=none", ("PGSERVICEFILE", path)),
            ("postgres://?service=desk", ("HOME", folder)),
        ] {
            let error = parse(url, &[variable]).err().map(|failure| failure.to_string());
            assert!(error.unwrap().contains("service"), "{url}");
        }
    }

    /// `psql` of PostgreSQL 15 connects to the same, but not to `localhost` where no host is given.
    #[test]
    fn servers_are_those_that_libpq_connects_to() {
        let port = [("PGPORT", "6432")];
        let host = [("PGHOST", "/run/a,db"), ("PGPORT", "1,2")];
        for (url, environment, servers) in [
            ("postgres:///desk?host=/run/pg", &[][..], &["/run/pg:5432"][..]),
            ("postgresql://%2Frun%2Fpg/desk", &[], &["/run/pg:5432"]),
            ("postgres://%2Frun%2Fpg:6432/desk", &[], &["/run/pg:6432"]),
            ("postgres://u@%40desk:6432/desk", &[], &["@desk:6432"]),
            (
                "postgres:///desk?host=/run/a,b,/run/c&port=1,,3",
                &[],
                &["/run/a:1", "b:5432", "/run/c:3"],
            ),
            ("postgres://a,%2Frun%2Fpg:2/desk", &[], &["a:5432", "/run/pg:2"]),
            ("postgres://a:1/desk?host=/run/pg&port=2", &[], &["/run/pg:2"]),
            ("postgres://:6432/desk?host=/run/pg", &[], &["/run/pg:6432"]),
            ("postgres://db/desk", &port, &["db:6432"]),
            ("postgres://db:1/desk", &port, &["db:1"]),
            ("postgres:///desk", &host, &["/run/a:1", "db:2"]),
            ("postgres://[::1]:1,[::2]/desk", &[], &["[::1]:1", "[::2]:5432"]),
            ("postgres:///desk?hostaddr=127.0.0.1", &[], &["127.0.0.1:5432"]),
            ("postgres://ada@:6432", &[], &["/var/run/postgresql:6432", "localhost:6432"]),
        ] {
            let read = parse(url, environment).unwrap();
            assert_eq!(names(&read), servers, "{url}");
        }
    }

    #[test]
    fn parameters_that_protect_are_honoured_or_refused() {
        let read = parse("postgres://db/desk", &[("PGCHANNELBINDING", "require")]).unwrap();
        let required = tokio_postgres::config::ChannelBinding::Require;
        assert_eq!(read.config.get_channel_binding(), required);
        for (parameter, variable, value) in [
            ("require_auth", "PGREQUIREAUTH", "scram-sha-256"),
            ("requirepeer", "PGREQUIREPEER", "postgres"),
            ("sslcert", "PGSSLCERT", "/a.crt"),
            ("sslcrl", "PGSSLCRL", "/a.crl"),
            ("sslcrldir", "PGSSLCRLDIR", "/crl"),
            ("sslcertmode", "PGSSLCERTMODE", "require"),
            ("sslsni", "PGSSLSNI", "0"),
            ("target_session_attrs", "PGTARGETSESSIONATTRS", "prefer-standby"),
            ("min_protocol_version", "PGMINPROTOCOLVERSION", "3.2"),
            ("sslkey", "PGSSLKEY", "/a.key"),
            ("gssencmode", "PGGSSENCMODE", "require"),
            ("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", "TLSv1.2"),
            ("ssl_min_protocol_version", "PGSSLMINPROTOCOLVERSION", "TLSv1.3"),
        ] {
            let given = parse(&format!("postgres://db/desk?{parameter}={value}"), &[]);
            for read in [given, parse("postgres://db/desk", &[(variable, value)])] {
                let why = read.err().map(|failure| failure.to_string()).unwrap_or_default();
                assert!(why.starts_with(&format!("{parameter} ")), "{parameter}: {why}");
            }
            parse("postgres://db/desk", &[(variable, "")]).unwrap();
        }
        let read = parse("postgres://db/desk", &[("PGSSLNEGOTIATION", "direct")]).unwrap();
        let direct = tokio_postgres::config::SslNegotiation::Direct;
        assert_eq!(read.config.get_ssl_negotiation(), direct);
    }

    #[test]
    fn variable_before_modes_requires_encryption_where_no_mode_is_given() {
        for (value, url, mode, expected) in [
            ("1", "postgres://db", "", SslMode::Require),
            ("0", "postgres://db", "", SslMode::Prefer),
            ("1", "postgres://db", "prefer", SslMode::Prefer),
            ("1", "postgres://db?sslmode=disable", "", SslMode::Disable),
        ] {
            let read = parse(url, &[("PGREQUIRESSL", value), ("PGSSLMODE", mode)]).unwrap();
            assert_eq!(read.config.get_ssl_mode(), expected, "{value} {url} {mode}");
        }
    }

    #[test]
    fn root_certificate_of_the_user_is_found() {
        let home = tempfile::tempdir().unwrap();
        let environment = [("HOME", home.path().to_str().unwrap())];
        let tls = |mode: &str| {
            parse(&format!("postgres://db/desk?sslmode={mode}"), &environment).unwrap().tls
        };
        let without = Tls { verify: Verify::Nothing, root_certificate: None };
        assert_eq!(tls("require"), without);
        let folder = home.path().join(".postgresql");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("root.crt"), "").unwrap();
        let root_certificate = Some(folder.join("root.crt"));
        for (mode, verify) in [
            ("prefer", Verify::Nothing),
            ("require", Verify::Authority),
            ("verify-ca", Verify::Authority),
            ("verify-full", Verify::AuthorityAndName),
        ] {
            let expected = Tls { verify, root_certificate: root_certificate.clone() };
            assert_eq!(tls(mode), expected, "{mode}");
        }
        let given = parse("postgres://db?sslmode=require&sslrootcert=/ca.pem", &environment);
        assert_eq!(given.unwrap().tls.root_certificate, Some(PathBuf::from("/ca.pem")));
        std::fs::write(folder.join("root.crl"), "").unwrap();
        assert!(parse("postgres://db/desk?sslmode=prefer", &environment).is_ok());
        let refused = parse("postgres://db/desk?sslmode=verify-ca", &environment);
        let why = refused.err().unwrap().to_string();
        assert!(why.starts_with("sslcrl is not supported") && why.contains("root.crl"), "{why}");
    }

    #[test]
    fn authorities_of_the_system_are_trusted_with_names_alone() {
        let system = "postgres://db/desk?sslrootcert=system";
        for url in [system.to_owned(), format!("{system}&sslmode=verify-full")] {
            assert_eq!(parse(&url, &[]).unwrap().tls.verify, Verify::AuthorityAndName);
        }
        for mode in ["disable", "prefer", "require", "verify-ca"] {
            let given = parse(&format!("{system}&sslmode={mode}"), &[]);
            for read in [given, parse(system, &[("PGSSLMODE", mode)])] {
                let why = read.err().unwrap().to_string();
                assert!(why.contains("verify-full with sslrootcert=system"), "{why}");
            }
        }
    }

    #[test]
    fn empty_mode_of_encryption_is_refused() {
        for parameter in ["sslmode", "channel_binding"] {
            let given = parse(&format!("postgres://db/desk?{parameter}="), &[]);
            let why = given.err().unwrap().to_string();
            assert!(why.contains(parameter), "{why}");
        }
    }

    #[test]
    fn sockets_have_no_tls_whatever_sslmode_says() {
        let url = "postgres:///desk?host=/run/pg,db,@desk&sslmode=verify-full";
        let read = parse(url, &[]).unwrap();
        let modes: Vec<_> = read.servers.iter().map(|it| it.config.get_ssl_mode()).collect();
        assert_eq!(modes, [SslMode::Disable, SslMode::Require, SslMode::Disable]);
        // With an address it is no socket.
        let read = parse("postgres:///desk?host=/run/pg&hostaddr=127.0.0.1", &[]).unwrap();
        assert_eq!(read.servers[0].config.get_ssl_mode(), SslMode::Prefer);
    }

    #[test]
    fn each_server_has_its_own_password_of_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = "/run/pg:*:*:*:a\nlocalhost:*:*:*:b\ndb:2:*:*:c\n";
        std::fs::write(file.path(), lines).unwrap();
        let environment = [("PGPASSFILE", file.path().to_str().unwrap())];
        let url = "postgres://ada@%2Frun%2Fpg,%2Fvar%2Frun%2Fpostgresql,db:1,db:2/desk";
        let read = parse(url, &environment).unwrap();
        let passwords: Vec<_> = read.servers.iter().map(|it| it.config.get_password()).collect();
        assert_eq!(passwords, [Some(&b"a"[..]), Some(b"b"), None, Some(b"c")]);
    }

    #[cfg(unix)]
    #[test]
    fn password_file_is_found_by_the_environment_and_must_be_private() {
        use std::fs;
        use std::os::unix::fs::PermissionsExt as _;

        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".pgpass");
        fs::write(&file, "*:*:*:ada:hunter2\n").unwrap();
        let environments =
            [("PGPASSFILE", file.to_str().unwrap()), ("HOME", home.path().to_str().unwrap())];
        let hunter2 = Some(&b"hunter2"[..]);
        // As libpq, it is used as if it were not there.
        for (mode, password) in
            [(0o600, hunter2), (0o440, hunter2), (0o640, hunter2), (0o644, None), (0o660, None)]
        {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            for environment in environments {
                let read = parse("postgres://ada@db/desk", &[environment]).unwrap();
                let read = read.servers[0].config.get_password();
                assert_eq!(read, password, "{mode:o}, {environment:?}");
            }
        }
    }

    #[test]
    fn error_names_the_parameter_but_not_the_address() {
        for (parameter, named) in [
            ("strict=yes", "strict"),
            ("schema=", "schema"),
            ("schema=a$$b", "schema"),
            ("schema=a%0Ab", "schema"),
            ("port=0", "port"),
            ("port=1,2,3", "port"),
            ("hostaddr=name", "hostaddr"),
            ("pool=0", "pool"),
            ("pool=many", "pool"),
            ("statement_timeout=0", "statement_timeout"),
            ("sslmode=no", "sslmode"),
            ("target_session_attrs=standby", "target_session_attrs"),
            ("connect_timeout=soon", "connect_timeout"),
            ("gssencmode=require", "gssencmode"),
            ("client_encoding=latin1", "client_encoding"),
            ("wait=1", "wait"),
        ] {
            let error = parse(&format!("postgres://ada:secret@host?{parameter}"), &[]).err();
            let why = error.map(|failure| failure.to_string()).unwrap_or_default();
            assert!(why.contains(named) && !why.contains("secret"), "{parameter}: {why}");
        }
        let error = parse("postgres://ada:se@cret@host/desk", &[]).err();
        let why = error.map(|failure| failure.to_string()).unwrap_or_default();
        assert!(why.contains("%40") && !why.contains("cret"), "{why}");
    }
}
