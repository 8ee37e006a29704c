//! How many files, sockets among them, the system lets the process have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Reserved for files that are not clients' connections: the store, the mail server, exported
/// files. A quarter where there are few.
const RESERVED: u64 = 128;

/// Raises the limit as far as it may be and has to be for so many connections; answers how many
/// there is room for.
pub(crate) fn make_room_for(connections: usize) -> usize {
    let wanted = connections as u64 + RESERVED;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let reachable = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let (mut open, raised) =
        (current.unwrap_or(u64::MAX), Rlimit { current: Some(reachable), maximum });
    if open < reachable && setrlimit(Resource::Nofile, raised).is_ok() {
        open = reachable;
    }
    let room = connections_within(open).min(connections as u64);
    let room = usize::try_from(room).unwrap_or(connections);
    if room < connections {
        tracing::warn!(
            open,
            connections = room,
            "few open files are allowed, and so few connections"
        );
    }
    room
}

fn connections_within(open: u64) -> u64 {
    open - RESERVED.min(open / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_kept_back() {
        assert_eq!(connections_within(4_224), 4_096);
        assert_eq!(connections_within(1_024), 896);
        assert_eq!(connections_within(256), 192);
    }

    #[test]
    fn there_is_room_for_some() {
        assert!((1..=4_096).contains(&make_room_for(4_096)));
    }
}
