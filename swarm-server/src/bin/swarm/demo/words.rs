//! The members, subjects and texts of the demonstration.

/// Number of days of sample data.
pub(super) const DAYS: i64 = 24;

/// A member, and the stance that it tends to, −2 to 2.
pub(super) struct Analyst {
    pub(super) name: &'static str,
    pub(super) lens: &'static str,
    pub(super) leaning: i64,
}

/// The members of the first day; the others join [`JOINED`] days ago.
pub(super) const FOUNDERS: usize = 12;

/// How many days ago the other members join.
pub(super) const JOINED: i64 = 2;

/// Applicants that wait for a review: their names and lenses.
pub(super) const APPLICANTS: [(&str, &str); 2] = [
    ("Sophie", "Elasticity: what a rate does to who stays."),
    ("Hertha", "Arcs and sparks: where a market jumps, and why."),
];

pub(super) const ANALYSTS: [Analyst; 25] = [
    Analyst {
        name: "Ada",
        lens: "Liquidity before narrative: depth, spread, and who provides them.",
        leaning: 1,
    },
    Analyst {
        name: "Grace",
        lens: "Supply schedules. What unlocks, when, and who holds it.",
        leaning: 1,
    },
    Analyst {
        name: "Hedy",
        lens: "Concentration: how many wallets make how much of the volume.",
        leaning: -1,
    },
    Analyst { name: "Lise", lens: "Governance and its calendars.", leaning: 0 },
    Analyst {
        name: "Mary",
        lens: "Macro first; a subject is a bet on rates until shown otherwise.",
        leaning: -1,
    },
    Analyst {
        name: "Rosalind",
        lens: "Structure of the balance sheet, position by position.",
        leaning: 0,
    },
    Analyst {
        name: "Emmy",
        lens: "Invariants. What must hold for the design to survive a bad week.",
        leaning: 1,
    },
    Analyst {
        name: "Katherine",
        lens: "Trajectories: the second derivative of users, fees and deposits.",
        leaning: 2,
    },
    Analyst {
        name: "Chien-Shiung",
        lens: "Looks for the asymmetry that everybody assumes away.",
        leaning: -2,
    },
    Analyst {
        name: "Barbara",
        lens: "Mobile elements: incentives that leave when the reward does.",
        leaning: 0,
    },
    Analyst {
        name: "Jocelyn",
        lens: "Weak signals in noisy data; says little and late.",
        leaning: 1,
    },
    Analyst {
        name: "Dorothy",
        lens: "Maps dependencies, and asks which of them were ever tested.",
        leaning: -1,
    },
    Analyst {
        name: "Caroline",
        lens: "Sweeps the same sky every night, and reports what moved.",
        leaning: 0,
    },
    Analyst { name: "Sofia", lens: "Partial differential views of funding rates.", leaning: 1 },
    Analyst { name: "Maria", lens: "Seasonality, and what only looks like it.", leaning: -1 },
    Analyst {
        name: "Annie",
        lens: "Classifies first: what kind of holder is selling?",
        leaning: 0,
    },
    Analyst {
        name: "Henrietta",
        lens: "Periods and brightness: how regular are the inflows?",
        leaning: 2,
    },
    Analyst { name: "Cecilia", lens: "What is it made of? Revenue by source.", leaning: 1 },
    Analyst {
        name: "Vera",
        lens: "The mass that does not show: liabilities off chain.",
        leaning: -2,
    },
    Analyst { name: "Maryam", lens: "Long paths back to where it began.", leaning: 0 },
    Analyst { name: "Radia", lens: "Routes around failures before they happen.", leaning: 1 },
    Analyst { name: "Frances", lens: "Takes the contract apart, branch by branch.", leaning: -1 },
    Analyst { name: "Shafi", lens: "What can be proved without being shown.", leaning: 0 },
    Analyst { name: "Mileva", lens: "Checks everyone else's arithmetic.", leaning: -1 },
    Analyst { name: "Tu Youyou", lens: "Reads the old documents again.", leaning: 1 },
];

/// A subject, with its value in US dollars on the first day.
pub(super) struct Theme {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) operator: &'static str,
    pub(super) thesis: &'static str,
    pub(super) wallet: &'static str,
    pub(super) value: f64,
    /// The trend of the takes on it over the weeks.
    pub(super) drift: i64,
}

pub(super) const THEMES: [Theme; 3] = [
    Theme {
        id: "aurora",
        name: "Aurora Protocol",
        operator: "Aurora Foundation",
        thesis: "An exchange whose fees are finally larger than what it pays to attract them.",
        wallet: "0x71c7656ec7ab88b098defb751b7401b5f6d8976f",
        value: 4_200_000.0,
        drift: 1,
    },
    Theme {
        id: "borealis",
        name: "Borealis Lending",
        operator: "Borealis Labs",
        thesis: "Loans against staked assets, with one large borrower and a patient treasury.",
        wallet: "0xde0b295669a9fd93d5f28d9ec85e40f4cb697bae",
        value: 11_800_000.0,
        drift: 0,
    },
    Theme {
        id: "cygnus",
        name: "Cygnus",
        operator: "Cygnus DAO",
        thesis: "A treasury that is divided anew each week, by vote.",
        wallet: "0x281055afc982d96fab65b3a49cac8b878184cb16",
        value: 2_350_000.0,
        drift: -1,
    },
];

/// The buckets of sessions on the last subject.
pub(super) const BUCKETS: [&str; 4] =
    ["stable assets", "staked ether", "governance tokens", "cash"];

pub(super) const STANCES: [&str; 5] = ["bearish", "cautious", "neutral", "constructive", "bullish"];

/// Two openings for each stance, and two reasons.
const OPENINGS: [[&str; 2]; 5] = [
    ["The exit is narrower than the entrance.", "Every buffer I rely on was drawn down this week."],
    [
        "Breadth is thin: three wallets make most of the volume.",
        "One borrower is a third of the book.",
    ],
    ["Nothing here has moved that was not expected to.", "The figures cancel each other out."],
    [
        "Liquidity has come back and the spread has halved since last week.",
        "Utilisation is back at 71 % without the incentive; that is the number that matters.",
    ],
    [
        "The unlock is behind us; supply is known until spring.",
        "Fees have covered emissions for eleven days in a row.",
    ],
];

const REASONS: [[&str; 2]; 5] = [
    [
        "If the keeper pauses, *nobody* liquidates, and the loss lands on depositors.",
        "I would rather miss the first ten per cent of a recovery than sit through this.",
    ],
    [
        "It may hold; I would not want to find out with size.",
        "Watch the largest withdrawal queue before anything else.",
    ],
    ["I wait for the vote.", "Two more weeks of data would tell; today does not."],
    [
        "Volume confirms what the spread said; I would still not call it a trend.",
        "Depth at 2 % is what I would watch next.",
    ],
    [
        "The **base case** no longer needs new users.",
        "Whoever sells here sells to somebody who has read the schedule.",
    ],
];

/// The text of a take with this stance, 0 to 4; `nth` selects the sentences.
pub(super) fn prose(stance: usize, nth: i64) -> String {
    let pick = |of: &[[&'static str; 2]; 5], odd: bool| {
        of.get(stance).map_or("", |[even, other]| if odd { other } else { even })
    };
    let opening = pick(&OPENINGS, nth % 2 == 1);
    let reason = pick(&REASONS, nth / 2 % 2 == 1);
    if nth % 5 == 4 { opening.to_owned() } else { format!("{opening} {reason}") }
}

/// The member that writes at length, and what it adds to each take.
pub(super) const WRITER: &str = "Emmy";
pub(super) const LONG: &str = include_str!("memos/write_up.md");

/// Memos: index of the author, days ago, index of the subject, title, text.
pub(super) const MEMOS: [(usize, i64, usize, &str, &str); 4] = [
    (0, 16, 0, "Depth is not volume", include_str!("memos/depth.md")),
    (2, 11, 1, "The borrower that is a third of the book", include_str!("memos/borrower.md")),
    (6, 8, 2, "What must hold", include_str!("memos/invariants.md")),
    (0, 3, 1, "Utilisation without the incentive", include_str!("memos/utilisation.md")),
];

/// A pseudo-random number from 0 to 99, a function of `a` and `b`.
pub(super) fn pseudo_random(a: i64, b: i64) -> i64 {
    // The finalizer of SplitMix64.
    let mut mixed = (a * 1_000 + b).cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) % 100).cast_signed()
}
