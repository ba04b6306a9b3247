//! The snapshot in ranges: shapes of tables, crashes, what a publication covers.

mod coverage;
mod resume;
mod shapes;
