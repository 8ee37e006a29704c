//! The memory and the processor time that a command takes.

use std::process::Command;

use crate::clients::python;

/// Runs a command, and prints the exit status, the memory that it took at most, in bytes, and the processor time in seconds.
const MEASURE: &str = r#"
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_maxrss * 1024, used.ru_utime + used.ru_stime)
"#;

/// What a command did and took.
pub(super) struct Measured {
    pub(super) status: i32,
    /// The memory that it took at most, in bytes.
    pub(super) memory: usize,
    /// The processor time, in seconds.
    pub(super) seconds: f64,
}

/// Runs a command.
pub(super) fn measure(command: &Command) -> Measured {
    let mut measuring = Command::new(python());
    measuring.args(["-c", MEASURE]).arg(command.get_program()).args(command.get_args());
    let output = measuring.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut parts = text.split_whitespace();
    let mut part = || parts.next().unwrap();
    Measured {
        status: part().parse().unwrap(),
        memory: part().parse().unwrap(),
        seconds: part().parse().unwrap(),
    }
}
