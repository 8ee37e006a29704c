//! The tables of the suite.

use swarm_core::store::backend::{Column, ColumnKind, Index, Table, Veil};

/// All tables: a backend under test is opened with them.
pub const TABLES: &[&Table] = &[&PARCELS, &DEPOTS, &SHELVES, &SCANS, &LETTERS];

/// Parcels: values of every type, and indexes of every kind.
pub(super) static PARCELS: Table = Table {
    name: "parcels",
    columns: &[
        column("id", ColumnKind::Integer),
        column("code", ColumnKind::Text),
        column("depot", ColumnKind::Text),
        column("weight", ColumnKind::Integer),
        column("seal", ColumnKind::Bytes),
        column("due", ColumnKind::Time),
        column("unpaid", ColumnKind::Integer),
    ],
    key: 1,
    parts: &["label", "contents"],
    veiled: None,
    indexes: &[
        Index { name: "parcels_by_code", columns: &[CODE], is_unique: true },
        Index { name: "parcels_by_depot", columns: &[DEPOT, WEIGHT], is_unique: false },
        Index { name: "parcels_by_seal", columns: &[SEAL], is_unique: false },
        Index { name: "parcels_by_due", columns: &[DUE, ID], is_unique: false },
    ],
    is_transient: false,
};

// The columns of parcels, and their indexes.
pub(super) const ID: usize = 0;
pub(super) const CODE: usize = 1;
pub(super) const DEPOT: usize = 2;
pub(super) const WEIGHT: usize = 3;
pub(super) const SEAL: usize = 4;
pub(super) const DUE: usize = 5;
pub(super) const UNPAID: usize = 6;
pub(super) const BY_CODE: usize = 0;
pub(super) const BY_DEPOT: usize = 1;
pub(super) const BY_SEAL: usize = 2;
pub(super) const BY_DUE: usize = 3;

/// Depots, which parcels are joined with: a key of text.
pub(super) static DEPOTS: Table = Table {
    name: "depots",
    columns: &[column("name", ColumnKind::Text), column("capacity", ColumnKind::Integer)],
    key: 1,
    parts: &["address"],
    veiled: None,
    indexes: &[],
    is_transient: false,
};

/// Shelves of depots: a key of two columns, and no parts.
pub(super) static SHELVES: Table = Table {
    name: "shelves",
    columns: &[
        column("depot", ColumnKind::Text),
        column("number", ColumnKind::Integer),
        column("load", ColumnKind::Integer),
    ],
    key: 2,
    parts: &[],
    veiled: None,
    indexes: &[],
    is_transient: false,
};

/// The column of shelves after their key.
pub(super) const LOAD: usize = 2;

/// Scans, which are short-lived.
pub(super) static SCANS: Table = Table {
    name: "scans",
    columns: &[column("id", ColumnKind::Integer), column("gate", ColumnKind::Text)],
    key: 1,
    parts: &[],
    veiled: None,
    indexes: &[Index { name: "scans_by_gate", columns: &[1], is_unique: false }],
    is_transient: true,
};

/// Letters. The text of one with a seal is veiled until its depot has a capacity.
pub(super) static LETTERS: Table = Table {
    name: "letters",
    columns: &[
        column("id", ColumnKind::Integer),
        column("depot", ColumnKind::Text),
        column("seal", ColumnKind::Bytes),
    ],
    key: 1,
    parts: &["address", "letter"],
    veiled: Some(Veil { part: 1, having: 2, key: 1, table: &DEPOTS, until: 1 }),
    indexes: &[Index { name: "letters_by_depot", columns: &[1], is_unique: false }],
    is_transient: false,
};

const fn column(name: &'static str, kind: ColumnKind) -> Column {
    Column { name, kind }
}
