//! What a session declares about its takes: its stances with their ranks, how many takes a member may file, and the
//! method of aggregation (API.md, 6.4). A session that declares nothing has the rules of the service.
//!
//! A declaration is made when the session is convened, and never changes: takes are signed, judged and counted by it.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize, Serializer};

use super::form::{FormSchema, form, parsed, value};
use super::json::Json;
use super::{Invalid, Revision, STANCES, Stance};

form! {
    /// What a session declares about its takes. All fields are optional, and omitted on the wire if they are absent.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "camelCase")]
    pub struct Declaration {
        /// The stances that a take may have, which never change. Without them: any text, of which the stances of the service have
        /// a rank.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub stances: Option<StanceScale> = "stances",
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            feature = "schema",
            schemars(description = "How many takes a member may file; 5 unless it is declared.")
        )]
        pub max_revisions: Option<Revision> = "maxRevisions":
            "How many takes a member may file; never changed.",
        /// The method of aggregation, the mean unless another is declared; never changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub method: Option<Method> = "method",
    }
    checks_first "stances": Option<Vec<RankedStance>>, "method": Option<String>;
}

impl Declaration {
    /// Returns whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the stances that have a rank: those declared, or those of the service.
    pub fn scale(&self) -> &StanceScale {
        self.stances.as_ref().unwrap_or_else(|| StanceScale::of_service())
    }

    /// Returns whether a take may have this stance: one that is declared, or any if none are.
    pub fn allows(&self, stance: &Stance) -> bool {
        self.stances.as_ref().is_none_or(|scale| scale.rank(stance).is_some())
    }

    /// Returns the last revision that a member may file.
    pub fn cap(&self) -> Revision {
        self.max_revisions.unwrap_or(Revision::CAP)
    }

    /// Returns the revision that follows `latest` (`None`: nothing filed yet), or `None` at the cap.
    pub fn next_revision(&self, latest: Option<Revision>) -> Option<Revision> {
        Revision::after(latest).filter(|next| *next <= self.cap())
    }

    /// Returns the method of aggregation.
    pub fn method(&self) -> Method {
        self.method.unwrap_or_default()
    }
}

/// How the score of a session is computed from the ranks and confidences of its takes (API.md, 6.5). A session that names no
/// method has the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "AggregationMethod")
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The mean of the ranks, weighted by confidence.
    #[default]
    Mean,
    /// The lower median of the ranks, weighted by confidence.
    WeightedMedian,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 2] = [Self::Mean, Self::WeightedMedian];

    /// Reads the name of a method.
    ///
    /// # Errors
    /// [`Invalid`] for any other text.
    pub fn parse(name: &str) -> Result<Self, Invalid> {
        let method = Self::ALL.into_iter().find(|method| method.as_str() == name);
        method.ok_or_else(|| Invalid::new("method", "must be mean or weighted_median"))
    }

    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::WeightedMedian => "weighted_median",
        }
    }
}

value!(
    Method,
    |fields, name| parsed(fields, name, |text| Self::parse(&text)),
    FormSchema::reference("AggregationMethod")
);

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A stance with its rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedStance {
    /// The name, which takes have exactly.
    pub name: Stance,
    /// The rank, with at most six decimals.
    #[cfg_attr(feature = "schema", schemars(range(min = -1000, max = 1000)))]
    #[serde(serialize_with = "crate::domain::json::exact")]
    pub rank: f64,
}

impl RankedStance {
    fn read(entry: Json) -> Result<Self, Invalid> {
        let ranked = entry.into_object().read_all(|entry| {
            let name = Stance::parse(entry.text("name")?);
            let name = name.map_err(|invalid| Invalid { field: "name", ..invalid })?;
            Ok(Self { name, rank: entry.number("rank")? })
        });
        ranked.map_err(|invalid| {
            Invalid::new("stances", format!("must be objects with a name and a rank: {invalid}"))
        })
    }
}

value!(
    Vec<RankedStance>,
    |fields, name| fields.list_if_any(name, RankedStance::read),
    FormSchema::reference("DeclaredStances")
);

value!(
    StanceScale,
    |fields, name| <Vec<RankedStance>>::take(fields, name)?.map(Self::parse).transpose(),
    <Vec<RankedStance>>::schema()
);

/// The stances that takes in a session may have, each with a name and a rank of its own, in ascending order of their ranks.
/// A session that declares none takes any text, of which five have a rank.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "DeclaredStances"))]
#[serde(try_from = "Vec<RankedStance>")]
pub struct StanceScale(
    #[cfg_attr(feature = "schema", schemars(length(min = 2, max = 20)))] Arc<[RankedStance]>,
);

impl StanceScale {
    /// The minimum number of stances that a session declares.
    pub const MIN: usize = 2;

    /// The maximum number of stances that a session declares.
    pub const MAX: usize = 20;

    /// The highest rank. The lowest is its negative.
    pub const MAX_RANK: f64 = 1_000.0;

    /// Ranks are whole multiples of one part of this number: they have at most six decimals, so that scores, which are
    /// rounded to twelve, tell them apart.
    const PARTS: f64 = 1_000_000.0;

    /// The stances of the service, which sessions have that declare none.
    pub fn of_service() -> &'static Self {
        static SCALE: LazyLock<StanceScale> = LazyLock::new(|| {
            let ranked = |(name, rank): (&'static str, i8)| RankedStance {
                name: Stance::of_service(name),
                rank: f64::from(rank),
            };
            StanceScale(STANCES.into_iter().map(ranked).collect())
        });
        &SCALE
    }

    /// Returns the scale of these stances with their ranks.
    ///
    /// # Errors
    /// [`Invalid`] if a name is not a stance, and as [`parse`](Self::parse).
    pub fn of<'n>(stances: impl IntoIterator<Item = (&'n str, f64)>) -> Result<Self, Invalid> {
        let ranked = |(name, rank)| Ok(RankedStance { name: Stance::parse(name)?, rank });
        Self::parse(stances.into_iter().map(ranked).collect::<Result<_, _>>()?)
    }

    /// Checks the stances, and puts them in the order of their ranks.
    ///
    /// # Errors
    /// [`Invalid`] if they are too few or too many, a rank is out of bounds, or two have the same name or rank.
    pub fn parse(mut stances: Vec<RankedStance>) -> Result<Self, Invalid> {
        let invalid = |rule: &str| Err(Invalid::new("stances", rule));
        if !(Self::MIN..=Self::MAX).contains(&stances.len()) {
            return invalid("must name 2 to 20 stances");
        }
        let is_rank = |rank: f64| {
            rank.abs() <= Self::MAX_RANK && (rank * Self::PARTS).round() / Self::PARTS == rank
        };
        if !stances.iter().all(|stance| is_rank(stance.rank)) {
            return invalid("must have ranks from -1000 to 1000 with at most six decimals");
        }
        for stance in &mut stances {
            // Adding zero turns -0 into 0.
            stance.rank += 0.0;
        }
        stances.sort_by(|a, b| a.rank.total_cmp(&b.rank));
        let has_same_rank = |pair: &[RankedStance]| matches!(pair, [a, b] if a.rank == b.rank);
        if stances.windows(2).any(has_same_rank) {
            return invalid("must have a rank of its own each");
        }
        if !super::distinct::are_distinct(stances.iter().map(|stance| stance.name.as_str())) {
            return invalid("must name each stance once");
        }
        Ok(Self(stances.into()))
    }

    /// Returns the stances, in ascending order of their ranks.
    pub fn stances(&self) -> &[RankedStance] {
        &self.0
    }

    /// Returns the rank of a stance; `None` if it has none.
    pub fn rank(&self, stance: &Stance) -> Option<f64> {
        self.place(stance).and_then(|place| self.0.get(place)).map(|stance| stance.rank)
    }

    /// Returns the index of a stance in [`stances`](Self::stances); `None` if it has no rank.
    pub fn place(&self, stance: &Stance) -> Option<usize> {
        self.0.iter().position(|ranked| ranked.name == *stance)
    }

    /// Returns the lowest rank.
    pub fn lowest(&self) -> f64 {
        self.0.first().map_or(0.0, |stance| stance.rank)
    }

    /// Returns the highest rank.
    pub fn highest(&self) -> f64 {
        self.0.last().map_or(0.0, |stance| stance.rank)
    }

    /// Returns the middle between the lowest and the highest rank: 0 for the stances of the service. It is the double
    /// nearest to the middle of the two decimals, so that a rank in the middle equals it, and the others do not.
    pub fn middle(&self) -> f64 {
        self.ends() / (2.0 * TRILLION)
    }

    /// The sum of the lowest and the highest rank, in trillionths: twice the middle.
    fn ends(&self) -> f64 {
        trillionths(self.lowest()) + trillionths(self.highest())
    }

    /// Returns a rank or score on the scale of the service, on which sessions with different stances compare: −2 for the
    /// lowest rank, 0 for the middle, 2 for the highest.
    pub fn normalized(&self, rank: f64) -> f64 {
        self.normalized_distance(rank - self.middle())
    }

    /// Returns a distance between two ranks or scores on the scale of the service, whose lowest and highest are 4 apart.
    pub fn normalized_distance(&self, distance: f64) -> f64 {
        let half = (self.highest() - self.lowest()) / 2.0;
        distance / half * 2.0
    }

    /// Returns a distance on the scale of the service as one on this scale.
    pub fn own_distance(&self, normalized: f64) -> f64 {
        let half = (self.highest() - self.lowest()) / 2.0;
        normalized / 2.0 * half
    }

    /// Returns the stance whose rank is nearest to `score`, of at most twelve decimals; a tie goes to the one nearer to the
    /// middle, then to the lower one. Distances are those of the decimals. `None` without stances, which no scale is.
    pub fn nearest(&self, score: f64) -> Option<&Stance> {
        let (score, ends) = (trillionths(score), self.ends());
        let nearest = self.0.iter().min_by(|a, b| {
            let from_score = |it: &RankedStance| (trillionths(it.rank) - score).abs();
            let from_middle = |it: &RankedStance| (2.0 * trillionths(it.rank) - ends).abs();
            from_score(a)
                .total_cmp(&from_score(b))
                .then(from_middle(a).total_cmp(&from_middle(b)))
                .then(a.rank.total_cmp(&b.rank))
        });
        nearest.map(|stance| &stance.name)
    }
}

/// The parts of one in which ranks and scores, of at most twelve decimals, are whole numbers.
const TRILLION: f64 = 1e12;

/// A rank or score in trillionths. It is a whole number far below 2^53, as are sums and differences of a few of them, so
/// that these are exact: 0.1 and 0.3 are equally near to 0.2, though their doubles are not.
fn trillionths(decimal: f64) -> f64 {
    (decimal * TRILLION).round()
}

impl Serialize for StanceScale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter())
    }
}

impl TryFrom<Vec<RankedStance>> for StanceScale {
    type Error = Invalid;

    fn try_from(stances: Vec<RankedStance>) -> Result<Self, Invalid> {
        Self::parse(stances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(stances: &[(&str, f64)]) -> Result<StanceScale, Invalid> {
        let ranked = |(name, rank): &(&str, f64)| RankedStance {
            name: Stance::parse(*name).unwrap(),
            rank: *rank,
        };
        StanceScale::parse(stances.iter().map(ranked).collect())
    }

    fn read(text: &str) -> Result<Declaration, Invalid> {
        let mut fields = Json::read(text.as_bytes()).unwrap().into_object();
        Declaration::read(&mut fields)
    }

    #[test]
    fn stances_are_two_to_twenty_of_distinct_names_and_ranks() {
        let many: Vec<_> = (0..21).map(|at| (at.to_string(), f64::from(at))).collect();
        let many: Vec<_> = many.iter().map(|(name, rank)| (name.as_str(), *rank)).collect();
        assert!(scale(&many[..20]).is_ok());
        for stances in [
            &many[..],
            &[("buy", 1.0)],
            &[("buy", 1.0), ("buy", 2.0)],
            &[("buy", 1.0), ("sell", 1.0)],
            &[("buy", 0.0), ("sell", -0.0)],
            &[("buy", 1.0), ("sell", -1000.5)],
            &[("buy", 1.0), ("sell", 0.000_000_1)],
            &[("buy", 1.0), ("sell", f64::NAN)],
            &[("buy", 1.0), ("sell", f64::INFINITY)],
        ] {
            assert_eq!(scale(stances).unwrap_err().field, "stances", "{stances:?}");
        }
        let names = scale(&[("Buy", 1.0), ("buy", -0.000_001), ("hold", 0.1)]).unwrap();
        let names: Vec<_> = names.stances().iter().map(|it| it.name.as_str().to_owned()).collect();
        assert_eq!(names, ["buy", "hold", "Buy"], "by rank, and names are compared exactly");
    }

    #[test]
    fn stances_of_service_are_a_scale_of_their_own() {
        let service = StanceScale::of_service();
        assert_eq!(StanceScale::parse(service.stances().to_vec()).as_ref(), Ok(service));
        for (name, rank) in STANCES {
            let stance = Stance::parse(name).unwrap();
            assert_eq!(service.rank(&stance), stance.known().map(f64::from));
            assert_eq!(service.normalized(f64::from(rank)), f64::from(rank));
        }
        // Ties go toward neutral.
        for (score, expected) in
            [(-1.5, "cautious"), (1.5, "constructive"), (0.5, "neutral"), (-0.5, "neutral")]
        {
            assert_eq!(service.nearest(score).unwrap().as_str(), expected, "{score}");
        }
    }

    #[test]
    fn ties_go_to_the_middle_then_to_the_lower_rank() {
        let percents = scale(&[("no", 0.0), ("even", 50.0), ("yes", 100.0)]).unwrap();
        assert_eq!(percents.nearest(25.0).unwrap().as_str(), "even");
        assert_eq!(percents.nearest(75.0).unwrap().as_str(), "even");
        let two = scale(&[("down", -1.0), ("up", 1.0)]).unwrap();
        assert_eq!(two.nearest(0.0).unwrap().as_str(), "down");
        assert_eq!(
            [0.0, 50.0, 75.0, 100.0].map(|it| percents.normalized(it)),
            [-2.0, 0.0, 1.0, 2.0]
        );
        assert_eq!(percents.normalized_distance(25.0), 1.0);
        assert_eq!(percents.own_distance(1.0), 25.0);
    }

    /// The doubles nearest to decimals are not equally far apart where the decimals are.
    #[test]
    fn middle_and_ties_are_those_of_the_decimals() {
        let three = scale(&[("low", 0.1), ("middle", 0.4), ("high", 0.7)]).unwrap();
        assert_eq!(three.middle(), 0.4);
        assert_eq!(three.normalized(0.4), 0.0);
        assert_eq!(three.nearest(0.25).unwrap().as_str(), "middle");
        assert_eq!(three.nearest(0.55).unwrap().as_str(), "middle");
        let two = scale(&[("a", 0.1), ("b", 0.3)]).unwrap();
        assert_eq!(two.middle(), 0.2);
        assert_eq!(two.nearest(0.2).unwrap().as_str(), "a");
        assert_eq!(two.nearest(0.200_000_000_001).unwrap().as_str(), "b");
        // The largest ranks, a millionth apart, and scores of twelve decimals between them.
        let far = scale(&[("a", -1000.0), ("b", 999.999_999), ("c", 1000.0)]).unwrap();
        assert_eq!(far.nearest(999.999_999_5).unwrap().as_str(), "b");
        assert_eq!(far.nearest(999.999_999_500_001).unwrap().as_str(), "c");
        // A middle that is no rank is not that of any.
        let odd = scale(&[("a", 0.1), ("b", 0.400_001), ("c", 0.700_001)]).unwrap();
        assert_eq!(odd.middle(), 0.400_000_5);
        assert!(odd.normalized(0.400_001) > 0.0);
    }

    #[test]
    fn declaration_is_written_as_it_is_read() {
        let text = r#"{"stances":[{"name":"sell","rank":-1.5},{"name":"buy","rank":2}],"maxRevisions":2,"method":"weighted_median"}"#;
        let declared = read(text).unwrap();
        assert_eq!(super::super::json::write(&declared), text);
        assert_eq!(serde_json::from_str::<Declaration>(text).unwrap(), declared);
        assert_eq!(read("{}").unwrap(), Declaration::default());
        for (bad, field) in [
            (r#"{"maxRevisions":0}"#, "maxRevisions"),
            (r#"{"maxRevisions":6}"#, "maxRevisions"),
            (r#"{"maxRevisions":1.5}"#, "maxRevisions"),
            (r#"{"method":"median"}"#, "method"),
            (r#"{"stances":{}}"#, "stances"),
            (r#"{"stances":[{"name":"","rank":1},{"name":"b","rank":2}]}"#, "stances"),
            (r#"{"stances":[{"name":"a"},{"name":"b","rank":2}]}"#, "stances"),
        ] {
            assert_eq!(read(bad).unwrap_err().field, field, "{bad}");
        }
    }

    #[test]
    fn revisions_end_at_the_declared_cap() {
        let declared =
            |cap| Declaration { max_revisions: Revision::new(cap), ..Declaration::default() };
        let revisions = |declared: Declaration| {
            let first = declared.next_revision(None);
            std::iter::successors(first, |it| declared.next_revision(Some(*it))).count()
        };
        assert_eq!([1, 2, 5].map(|cap| revisions(declared(cap))), [1, 2, 5]);
        assert_eq!(revisions(Declaration::default()), 5);
    }
}
