//! Styles of names, and the words a name is made of.

use faucet_sdk::config;

/// How to write a name.
#[config]
#[derive(Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Case {
    /// order_id
    Snake,
    /// orderId
    Camel,
    /// OrderId
    Pascal,
    /// order-id
    Kebab,
    /// ORDER_ID of order_id: every letter upper case, all else as it was.
    Upper,
    /// order_id of ORDER_ID: every letter lower case, all else as it was.
    Lower,
}

impl Case {
    /// The name in this style. Underscores at its ends stay: they often mean something (`_id`). A name without a letter
    /// or a digit stays as it is.
    pub(crate) fn write(self, name: &str) -> String {
        let joined = match self {
            Self::Upper => return name.to_uppercase(),
            Self::Lower => return name.to_lowercase(),
            Self::Snake => lower(name).join("_"),
            Self::Kebab => lower(name).join("-"),
            Self::Pascal => lower(name).iter().map(|word| capital(word)).collect(),
            Self::Camel => {
                let words = lower(name);
                let capitals = words.iter().skip(1).map(|word| capital(word));
                words.first().cloned().into_iter().chain(capitals).collect::<String>()
            }
        };
        if joined.is_empty() {
            return name.to_owned();
        }
        let inside = name.trim_start_matches('_');
        let (start, end) = (name.len() - inside.len(), inside.len() - inside.trim_end_matches('_').len());
        format!("{}{joined}{}", "_".repeat(start), "_".repeat(end))
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The words of a name in lower case. They are parted by whatever is no letter or digit, before a capital that follows a
/// small letter or a digit (`orderId`), and before the last of several capitals if a small letter follows (`HTTPServer`).
fn lower(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, letter) in letters.iter().copied().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after = letters.get(at + 1).copied();
        let ends_acronym = before.is_some_and(char::is_uppercase) && after.is_some_and(char::is_lowercase);
        let ends_word = before.is_some_and(|c| c.is_lowercase() || c.is_numeric());
        let starts = letter.is_uppercase() && (ends_word || ends_acronym);
        if (starts || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_of_every_style() {
        let cases = [
            ("order_id", ["order_id", "orderId", "OrderId", "order-id", "ORDER_ID", "order_id"]),
            ("orderId", ["order_id", "orderId", "OrderId", "order-id", "ORDERID", "orderid"]),
            (
                "HTTPServerURL",
                [
                    "http_server_url",
                    "httpServerUrl",
                    "HttpServerUrl",
                    "http-server-url",
                    "HTTPSERVERURL",
                    "httpserverurl",
                ],
            ),
            ("line1Text", ["line1_text", "line1Text", "Line1Text", "line1-text", "LINE1TEXT", "line1text"]),
            ("_id", ["_id", "_id", "_Id", "_id", "_ID", "_id"]),
            ("__a  b--c_", ["__a_b_c_", "__aBC_", "__ABC_", "__a-b-c_", "__A  B--C_", "__a  b--c_"]),
            ("ÄpfelÜber", ["äpfel_über", "äpfelÜber", "ÄpfelÜber", "äpfel-über", "ÄPFELÜBER", "äpfelüber"]),
            ("名前", ["名前", "名前", "名前", "名前", "名前", "名前"]),
            ("___", ["___"; 6]),
        ];
        let styles = [Case::Snake, Case::Camel, Case::Pascal, Case::Kebab, Case::Upper, Case::Lower];
        for (name, wanted) in cases {
            for (style, wanted) in styles.into_iter().zip(wanted) {
                assert_eq!(style.write(name), wanted, "{name} {style:?}");
            }
        }
    }
}
