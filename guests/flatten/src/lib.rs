//! `flatten`: makes columns of the members of JSON objects.
//!
//! Which columns there are, and of which kind, is what the documents of a page have together; see the README. Numbers
//! keep every digit.

mod config;
mod tree;

pub use config::{Config, Kinds};
use faucet_sdk::{Column, ColumnBuilder, Error, Kind, Output, Page, Result, Transform, Value, kind_name, transform};
use faucet_values::{Converted, Reading, check_key_stays, selected};
use std::collections::HashMap;
use tree::{Leaf, Node};

/// The transform: which columns to flatten, and how.
#[derive(Debug)]
pub struct Flatten(Config);

#[transform(name = "flatten")]
impl Transform for Flatten {
    type Config = Config;

    fn open(config: Config) -> Result<Self> {
        config.check()?;
        Ok(Self(config))
    }

    fn apply<'a>(&mut self, page: Page<'a>) -> Result<Output<'a>> {
        let flat = self.columns(&page)?;
        let mut out = page.pass();
        let mut order = Vec::new();
        let mut new = Vec::new();
        for column in page.columns() {
            let column = column?;
            let made = if flat.contains(&column.name()) { self.flatten(&page, &column)? } else { None };
            let stays = made.is_none() || self.0.keep;
            order.extend(stays.then(|| (column.name().to_owned(), column.name())));
            for made in made.into_iter().flatten() {
                order.push((made.name().to_owned(), column.name()));
                new.push(made);
            }
        }
        self.check_names(&page, &order)?;
        let stays = |name: &str| order.iter().any(|(stays, _)| stays == name);
        let gone = flat.iter().filter(|name| !stays(name)).try_for_each(|name| out.remove(name));
        gone?;
        new.into_iter().try_for_each(|column| out.set(column))?;
        out.arrange(order.iter().map(|(name, _)| name.as_str()))?;
        Ok(out.into())
    }
}

impl Flatten {
    /// Names of the columns to flatten.
    fn columns<'a>(&self, page: &Page<'a>) -> Result<Vec<&'a str>> {
        let Some(list) = &self.0.columns else {
            let columns = page.columns().collect::<Result<Vec<_>>>()?;
            let json = columns.iter().filter(|column| column.kind() == Kind::Json && !page.is_key(column.name()));
            return Ok(json.map(Column::name).collect());
        };
        let names = selected(page, list, self.0.on_missing)?;
        for name in &names {
            check_json(page, &page.column(name)?)?;
        }
        check_key_stays(page, &names, "it can't be flattened")?;
        Ok(names)
    }

    /// The new columns, or none if the documents are no objects and the column stays as it is.
    fn flatten(&self, page: &Page<'_>, column: &Column<'_>) -> Result<Option<Vec<ColumnBuilder>>> {
        let mut tree = Node::default();
        for row in 0..column.rows() {
            if let Some(json) = column.value(row).as_str() {
                tree.see(json, self.0.depth());
            }
        }
        if tree.is_unseen() {
            return Ok(Some(Vec::new()));
        }
        if !tree.splits() {
            return Ok(None);
        }
        let mut leaves = Vec::new();
        tree.number(column.name(), self.0.separator(), &mut leaves);
        if leaves.len() > self.0.most() {
            return Err(Error::new(format!(
                "column '{}' of table '{}' has {} different members in one page; set max_depth, or a greater max_columns",
                column.name(),
                page.table(),
                leaves.len()
            )));
        }
        self.fill(column, &tree, &leaves).map(Some)
    }

    fn fill(&self, column: &Column<'_>, tree: &Node, leaves: &[Leaf]) -> Result<Vec<ColumnBuilder>> {
        let kind = |leaf: &Leaf| if self.0.kinds == Kinds::Text { Kind::Text } else { leaf.kind };
        let mut new: Vec<Converted> =
            leaves.iter().map(|leaf| Converted::new(&leaf.name, kind(leaf), Reading::default())).collect();
        let mut parts = vec![None; leaves.len()];
        for value in column.values() {
            parts.fill(None);
            if let Some(json) = value.as_str() {
                tree.cut(json, &mut parts);
            }
            // A row without a document has no members either: null, or absent as the document is.
            let gap = if matches!(value, Value::Absent) { Value::Absent } else { Value::Null };
            for (column, part) in new.iter_mut().zip(&parts) {
                let fits = match part {
                    Some(json) => column.push_document(json)?,
                    None => column.push(gap)?,
                };
                if !fits {
                    // Text of half a character: only with kinds: text, as it would be JSON otherwise.
                    column.push(Value::Text(part.unwrap_or_default().trim()))?;
                }
            }
        }
        Ok(new.into_iter().map(Converted::finish).collect())
    }

    /// Names with the columns they come from.
    fn check_names(&self, page: &Page<'_>, order: &[(String, &str)]) -> Result<()> {
        let mut seen = HashMap::new();
        for (name, from) in order {
            if let Some(other) = seen.insert(name, from) {
                return Err(Error::new(format!(
                    "flattening table '{}' makes two columns named '{name}', of '{other}' and '{from}'; set another \
                     separator, or rename one before",
                    page.table()
                )));
            }
        }
        Ok(())
    }
}

fn check_json(page: &Page<'_>, column: &Column<'_>) -> Result<()> {
    if column.kind() == Kind::Json {
        return Ok(());
    }
    let (name, kind, table) = (column.name(), kind_name(column.kind()), page.table());
    Err(Error::new(format!(
        "column '{name}' of table '{table}' is {kind}: only JSON can be flattened; use json_parse before"
    )))
}
