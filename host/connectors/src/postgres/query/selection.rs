//! Queries that can be read in ranges: a plain selection from one table.
//!
//! `SELECT list FROM [ONLY] name [[AS] alias] [WHERE condition]` and nothing else. The rows of such a query are those of
//! the table, each by itself, so a further condition cuts them into parts. Whatever is not surely of that shape is
//! taken for one that can't be cut.

use super::lex::{self, Kind, Token};

/// A plain selection, in pieces of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection<'q> {
    /// What is selected.
    pub list: &'q str,
    /// Whether that is every column.
    pub star: bool,
    /// From the word FROM up to the condition.
    pub from: &'q str,
    /// Whether tables that inherit from it are left out.
    pub only: bool,
    /// The table's name as it is written, without comments.
    pub table: String,
    /// The condition.
    pub condition: Option<&'q str>,
    /// The whole text with single spaces, without comments, unquoted words in lower case.
    pub normal: String,
}

/// Words that can't be an alias without AS, and that end the shape.
const CLAUSES: [(&str, &str); 24] = [
    ("group", GROUPS),
    ("having", GROUPS),
    ("window", GROUPS),
    ("distinct", GROUPS),
    ("order", "it sorts its rows"),
    ("limit", LIMITS),
    ("offset", LIMITS),
    ("fetch", LIMITS),
    ("union", COMBINES),
    ("intersect", COMBINES),
    ("except", COMBINES),
    ("join", JOINS),
    ("inner", JOINS),
    ("left", JOINS),
    ("right", JOINS),
    ("full", JOINS),
    ("cross", JOINS),
    ("natural", JOINS),
    ("on", JOINS),
    ("using", JOINS),
    ("for", "it locks its rows"),
    ("into", "it writes to a table"),
    ("tablesample", "it reads a sample"),
    ("as", NOT_PLAIN),
];

const GROUPS: &str = "it groups or compares its rows";
const LIMITS: &str = "it limits its rows";
const COMBINES: &str = "it combines several queries";
const JOINS: &str = "it joins tables";
const NOT_PLAIN: &str = "it is no plain `SELECT .. FROM table WHERE ..`";

impl<'q> Selection<'q> {
    /// The pieces of `query`, or why it is no plain selection.
    ///
    /// # Errors
    /// A clause that completes "the query can't be cut: ..".
    pub fn parse(query: &'q str) -> Result<Self, &'static str> {
        let query = lex::body(query);
        let tokens = lex::tokens(query);
        let from = outside(&tokens, "from").filter(|_| tokens[0].is("select")).ok_or(NOT_PLAIN)?;
        let list = &tokens[1..from];
        let (first, last) = (list.first().ok_or(NOT_PLAIN)?, list.last().ok_or(NOT_PLAIN)?);
        no_clause(list)?;
        if first.is("all") {
            return Err(NOT_PLAIN);
        }
        let only = tokens.get(from + 1).is_some_and(|token| token.is("only"));
        let (table, after) = table(&tokens, from + 1 + usize::from(only))?;
        let after = alias(&tokens, after)?;
        let (end, condition) = match tokens.get(after) {
            None => (query.len(), None),
            Some(word) if word.is("where") => {
                let rest = tokens.get(after + 1..).filter(|rest| !rest.is_empty()).ok_or(NOT_PLAIN)?;
                no_clause(rest)?;
                balanced(rest)?;
                (word.start, Some(&query[rest[0].start..]))
            }
            Some(other) => return Err(reason(other).unwrap_or(NOT_PLAIN)),
        };
        Ok(Self {
            list: &query[first.start..last.start + last.text.len()],
            star: is_star(list),
            from: &query[tokens[from].start..end],
            only,
            table,
            condition,
            normal: normal(&tokens),
        })
    }

    /// Whether a row may come into the result, or change there, without being written: by other tables or by the clock.
    pub fn is_fleeting(&self) -> bool {
        let words = self.normal.split(' ').skip(1);
        words.into_iter().any(|word| FLEETING.contains(&word))
    }

    /// The same selection of `list` (all of its own without one) under further conditions.
    pub fn statement(&self, list: Option<&str>, conditions: &[String]) -> String {
        // Line breaks end comments that pieces may end with.
        let own = self.condition.map(|own| format!("(\n{own}\n)"));
        let all: Vec<String> = conditions.iter().map(|c| format!("({c})")).chain(own).collect();
        let head = format!("SELECT {}\n{}", list.unwrap_or(self.list), self.from.trim_end());
        if all.is_empty() { head } else { format!("{head}\nWHERE {}", all.join(" AND ")) }
    }
}

/// Words by which the value of an expression depends on something else than the row it is computed for.
const FLEETING: [&str; 12] = [
    "select",
    "table",
    "now",
    "random",
    "current_date",
    "current_time",
    "current_timestamp",
    "localtime",
    "localtimestamp",
    "clock_timestamp",
    "statement_timestamp",
    "current_setting",
];

/// Where the word stands first outside of parentheses.
fn outside(tokens: &[Token<'_>], word: &str) -> Option<usize> {
    tokens.iter().position(|token| token.depth == 0 && token.is(word))
}

fn reason(token: &Token<'_>) -> Option<&'static str> {
    match token.text {
        "," if token.kind == Kind::Sign => Some(JOINS),
        "(" if token.kind == Kind::Sign => Some("it reads from a function or another query"),
        _ => CLAUSES.iter().find(|(word, _)| token.is(word)).map(|(_, why)| *why),
    }
}

/// Refuses clauses outside of parentheses; commas, parentheses and AS are at home in a list and a condition.
fn no_clause(tokens: &[Token<'_>]) -> Result<(), &'static str> {
    let outer = tokens.iter().filter(|token| token.depth == 0 && token.kind == Kind::Word && !token.is("as"));
    // LEFT and RIGHT are functions, too.
    outer.filter(|token| !token.is("left") && !token.is("right")).find_map(reason).map_or(Ok(()), Err)
}

/// A condition goes into parentheses of ours, so its own have to match.
fn balanced(tokens: &[Token<'_>]) -> Result<(), &'static str> {
    let count = |signs: [&str; 2]| tokens.iter().filter(|t| signs.iter().any(|sign| t.sign(sign))).count();
    let closed_first = tokens.iter().scan(0_isize, |open, token| {
        *open += isize::from(token.sign("(")) - isize::from(token.sign(")"));
        Some(*open)
    });
    let too_early = closed_first.into_iter().any(|open| open < 0);
    if too_early || count(["(", "["]) != count([")", "]"]) { Err(NOT_PLAIN) } else { Ok(()) }
}

fn is_name(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Name => true,
        Kind::Word => reason(token).is_none() && !token.is("where") && !token.is("from") && !token.is("only"),
        Kind::Constant | Kind::Sign => false,
    }
}

/// A name of up to three parts at `at`, and what follows.
fn table(tokens: &[Token<'_>], at: usize) -> Result<(String, usize), &'static str> {
    let name = |at: usize| tokens.get(at).filter(|token| is_name(token)).map(|token| token.text);
    let Some(first) = name(at) else {
        return Err(tokens.get(at).and_then(reason).unwrap_or(NOT_PLAIN));
    };
    let (mut parts, mut at) = (vec![first], at + 1);
    while parts.len() < 3 && tokens.get(at).is_some_and(|token| token.sign(".")) {
        parts.push(name(at + 1).ok_or(NOT_PLAIN)?);
        at += 2;
    }
    Ok((parts.join("."), at))
}

/// What follows the alias at `at`, if there is one.
fn alias(tokens: &[Token<'_>], at: usize) -> Result<usize, &'static str> {
    match tokens.get(at) {
        Some(token) if token.is("as") => {
            tokens.get(at + 1).filter(|token| is_name(token)).map(|_| at + 2).ok_or(NOT_PLAIN)
        }
        Some(token) if is_name(token) => Ok(at + 1),
        Some(_) | None => Ok(at),
    }
}

/// `*`, or `alias.*`.
fn is_star(list: &[Token<'_>]) -> bool {
    let Some((star, before)) = list.split_last().filter(|(star, _)| star.sign("*")) else { return false };
    let qualified = before.chunks(2).all(|pair| matches!(pair, [name, dot] if is_name(name) && dot.sign(".")));
    star.depth == 0 && qualified
}

fn normal(tokens: &[Token<'_>]) -> String {
    let text = |token: &Token<'_>| match token.kind {
        Kind::Word => token.text.to_lowercase(),
        Kind::Name | Kind::Constant | Kind::Sign => token.text.to_owned(),
    };
    tokens.iter().map(text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::proptest;

    #[test]
    fn plain_selections_are_taken_apart() {
        let query = "select \"A\", f(x, (SELECT max(y) FROM u)) AS z -- all\n FROM only \"S.1\".\"T\"\"x\" AS t -- here\n \
                     Where a > 1 OR b IN (SELECT c FROM d ORDER BY e LIMIT 1) -- the end";
        let found = Selection::parse(query).unwrap();
        assert_eq!(found.list, "\"A\", f(x, (SELECT max(y) FROM u)) AS z");
        assert_eq!((found.table.as_str(), found.only, found.star), ("\"S.1\".\"T\"\"x\"", true, false));
        assert!(found.from.starts_with("FROM only") && found.from.contains("AS t"));
        assert!(found.condition.unwrap().starts_with("a > 1 OR b"));
        let statement = found.statement(Some("\"A\""), &["id < 5".into()]);
        assert!(statement.starts_with("SELECT \"A\"\nFROM only \"S.1\""), "{statement}");
        assert!(statement.contains("\nWHERE (id < 5) AND (\na > 1 OR b"), "{statement}");
        assert!(statement.ends_with("-- the end\n)"), "{statement}");
    }

    #[test]
    fn every_column_is_told_from_a_product() {
        for (query, star) in [
            ("SELECT * FROM t", true),
            ("SELECT o.* FROM orders o;", true),
            ("SELECT s.orders.* FROM s.orders", true),
            ("SELECT a * b FROM t", false),
            ("SELECT *, 1 AS x FROM t", false),
        ] {
            let found = Selection::parse(query).unwrap();
            assert_eq!((found.star, found.condition), (star, None), "{query}");
            assert_eq!(Selection::parse(&found.statement(None, &[])).unwrap().normal, found.normal, "{query}");
        }
    }

    #[test]
    fn what_is_not_plain_says_why() {
        for (query, part) in [
            ("SELECT * FROM a, b", "joins"),
            ("SELECT * FROM a LEFT JOIN b USING (id)", "joins"),
            ("SELECT * FROM a x JOIN b ON true", "joins"),
            ("SELECT a FROM t GROUP BY a", "groups"),
            ("SELECT DISTINCT a FROM t", "groups"),
            ("SELECT a IS DISTINCT FROM b AS d FROM t", "groups"),
            ("SELECT * FROM t ORDER BY a", "sorts"),
            ("SELECT * FROM t WHERE a = 1 LIMIT 5", "limits"),
            ("SELECT * FROM t UNION ALL SELECT * FROM u", "combines"),
            ("SELECT * FROM t WHERE true EXCEPT SELECT * FROM u", "combines"),
            ("SELECT * FROM generate_series(1, 9) g", "function"),
            ("SELECT * FROM (SELECT 1) q", "function"),
            ("SELECT * FROM t TABLESAMPLE SYSTEM (1)", "sample"),
            ("SELECT * FROM t FOR UPDATE", "locks"),
            ("SELECT * INTO x FROM t", "writes"),
            ("WITH w AS (SELECT 1) SELECT * FROM w", "plain"),
            ("(SELECT * FROM t)", "plain"),
            ("SELECT ALL a FROM t", "plain"),
            ("SELECT 1", "plain"),
            ("SELECT FROM t", "plain"),
            ("SELECT * FROM t WHERE", "plain"),
            ("SELECT * FROM t WHERE a) OR (true", "plain"),
            ("SELECT * FROM t x (a, b)", "function"),
            ("TABLE t", "plain"),
            ("", "plain"),
        ] {
            let why = Selection::parse(query).unwrap_err();
            assert!(why.contains(part), "{query}: {why}");
        }
    }

    #[test]
    fn conditions_on_more_than_the_row_are_noticed() {
        let fleeting = |query| Selection::parse(query).unwrap().is_fleeting();
        assert!(fleeting("SELECT * FROM t WHERE a IN (SELECT b FROM u)"));
        assert!(fleeting("SELECT * FROM t WHERE at < Now()"));
        assert!(!fleeting("SELECT a, upper(b) FROM t WHERE a > 5 AND \"now\" = 'select'"));
    }

    #[test]
    fn spelling_does_not_change_what_a_query_is() {
        let normal = |query| Selection::parse(query).unwrap().normal;
        assert_eq!(normal("SELECT  * /* all */\nFROM T -- rows"), normal("select * from t;"));
        assert_ne!(normal("SELECT * FROM \"T\""), normal("SELECT * FROM t"));
        assert_ne!(normal("SELECT * FROM t WHERE a = 'X'"), normal("SELECT * FROM t WHERE a = 'x'"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_fall_over(tail in "[-a-z'\"$/*;\\\\ \n()\\[\\],.é1]{0,40}") {
            for head in ["", "SELECT * FROM ", "SELECT * FROM t WHERE ", "SELECT "] {
                let query = format!("{head}{tail}");
                if let Ok(found) = Selection::parse(&query) {
                    found.statement(None, &["x".into()]);
                }
            }
        }
    }
}
