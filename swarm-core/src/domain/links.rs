//! The addresses that mails and briefs link to.

/// The addresses that mails and briefs link to. It is implemented for strings: an origin such as
/// `https://acme.example`, followed by the paths of API.md. A front end that serves other paths
/// implements it with those.
pub trait Links {
    /// The address of the front end.
    fn origin(&self) -> String;

    /// The address at which a member requests a challenge.
    fn challenge(&self) -> String;

    /// The address at which a member claims its token.
    fn token_claim(&self) -> String;

    /// The address at which a committee member submits.
    fn committee_submit(&self) -> String;
}

impl Links for str {
    fn origin(&self) -> String {
        self.to_owned()
    }

    fn challenge(&self) -> String {
        at(self, "/api/swarm/token-claim/challenge")
    }

    fn token_claim(&self) -> String {
        at(self, "/api/swarm/token-claim")
    }

    fn committee_submit(&self) -> String {
        at(self, "/api/ic/submit")
    }
}

/// Joins an origin and a path. The origin may end with a slash.
fn at(origin: &str, path: &str) -> String {
    [origin.trim_end_matches('/'), path].concat()
}

impl Links for String {
    fn origin(&self) -> String {
        self.as_str().origin()
    }

    fn challenge(&self) -> String {
        self.as_str().challenge()
    }

    fn token_claim(&self) -> String {
        self.as_str().token_claim()
    }

    fn committee_submit(&self) -> String {
        self.as_str().committee_submit()
    }
}

impl<T: Links + ?Sized> Links for &T {
    fn origin(&self) -> String {
        (**self).origin()
    }

    fn challenge(&self) -> String {
        (**self).challenge()
    }

    fn token_claim(&self) -> String {
        (**self).token_claim()
    }

    fn committee_submit(&self) -> String {
        (**self).committee_submit()
    }
}
