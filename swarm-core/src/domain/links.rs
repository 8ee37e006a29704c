//! Where a front end serves what mails and briefs point at.

/// The addresses that mails and briefs name. An origin, as `https://acme.example`, is one: with the
/// paths of API.md behind it. A front end that serves other paths says them here.
pub trait Links {
    /// The front end itself.
    fn origin(&self) -> String;

    /// Where a member asks for a challenge.
    fn challenge(&self) -> String;

    /// Where a member claims its token.
    fn token_claim(&self) -> String;

    /// Where a member of the committee submits.
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

/// A path of an origin, which may have a slash at its end.
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
