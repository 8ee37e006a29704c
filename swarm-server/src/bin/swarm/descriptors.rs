//! The limit on open file descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors reserved for everything but clients' connections: the store, the mail server, exported
/// files. At most a quarter of the limit.
const RESERVED: u64 = 128;

/// Raises the limit as far as possible and necessary for so many connections. Returns the number of
/// connections that fit.
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
            "the limit on open files reduces the number of connections"
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
    fn descriptors_are_reserved() {
        assert_eq!(connections_within(4_224), 4_096);
        assert_eq!(connections_within(1_024), 896);
        assert_eq!(connections_within(256), 192);
    }

    #[test]
    fn connections_fit_into_the_limit() {
        assert!((1..=4_096).contains(&make_room_for(4_096)));
    }
}
