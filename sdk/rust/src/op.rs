//! What a row of a change-data source is.

/// What happened to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `c`: the row was created.
    Create,
    /// `u`: the row was updated. Columns the update did not send are absent.
    Update,
    /// `d`: the row was deleted. Only key columns have values.
    Delete,
    /// `r`: the row was read by the snapshot.
    Read,
    /// `t`: the table was truncated. No column has a value.
    Truncate,
}

impl Op {
    /// The operation written as `text`.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "c" => Self::Create,
            "u" => Self::Update,
            "d" => Self::Delete,
            "r" => Self::Read,
            "t" => Self::Truncate,
            _ => return None,
        })
    }

    /// How the column `__op` writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "c",
            Self::Update => "u",
            Self::Delete => "d",
            Self::Read => "r",
            Self::Truncate => "t",
        }
    }

    /// Whether it takes rows away, so that a destination that misses it keeps rows it should not have.
    pub fn removes(self) -> bool {
        match self {
            Self::Delete | Self::Truncate => true,
            Self::Create | Self::Update | Self::Read => false,
        }
    }
}
