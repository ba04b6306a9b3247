use super::*;
use crate::config::Config;
use crate::json::document;
use faucet_sdk::serde_json::{from_value, json};

const BASE: &str = "https://h/orders?x=1";

/// Walks through answers (document, `Link` header), and gives the requests after the first: URL and body.
fn walk(pagination: Value, answers: &[(&str, Option<&str>)]) -> Result<Vec<String>> {
    let config: Config = from_value(json!({
        "url": BASE, "method": "POST", "body": {"variables": {}}, "pagination": pagination,
    }))
    .unwrap();
    let mut pager = Pager::new(config.pagination.clone());
    let mut requests = Vec::new();
    for (text, link) in answers {
        let root = document(text).unwrap();
        let records = Path::parse("$.items").unwrap().records(root).unwrap().unwrap_or_default();
        let mut draft = Draft::new(&config);
        pager.write(&mut draft)?;
        let call = draft.finish(config.method);
        let body = String::from_utf8(call.body.unwrap()).unwrap();
        requests.push(format!("{} {body}", call.url.strip_prefix("https://h/").unwrap_or(&call.url)));
        if !pager.advance(Answer { url: &call.url, link: *link, root, records: &records })? {
            requests.push("end".to_owned());
            break;
        }
    }
    Ok(requests.split_off(1))
}

fn bodies(pagination: Value, answers: &[&str]) -> Result<Vec<String>> {
    walk(pagination, &answers.iter().map(|answer| (*answer, None)).collect::<Vec<_>>())
}

const PLAIN: &str = r#"{"variables":{}}"#;

#[test]
fn a_cursor_goes_into_the_query() {
    let style = json!({"type": "Cursor", "next_token_path": "$.next", "param_name": "after"});
    let got = bodies(style.clone(), &[r#"{"next":"a&b"}"#, r#"{"next":7}"#, r#"{"next":null}"#]).unwrap();
    assert_eq!(got, [format!("orders?x=1&after=a%26b {PLAIN}"), format!("orders?x=1&after=7 {PLAIN}"), "end".into()]);
    for end in [r#"{"next":""}"#, r#"{"next":false}"#, "{}"] {
        assert_eq!(bodies(style.clone(), &[end]).unwrap(), ["end"], "{end}");
    }
    assert!(bodies(style, &[r#"{"next":{}}"#]).is_err());
}

#[test]
fn a_cursor_that_comes_twice_is_an_error() {
    let style = json!({"type": "Cursor", "next_token_path": "$.next", "param_name": "after"});
    let answers = [r#"{"next":"a"}"#, r#"{"next":"b"}"#, r#"{"next":"a"}"#];
    assert!(bodies(style, &answers).unwrap_err().to_string().contains("circle"));
}

#[test]
fn a_cursor_goes_into_the_body() {
    let style = json!({
        "type": "CursorInBody", "next_token_path": "$.page.end", "body_cursor_field": "/variables/after",
        "has_next_page_path": "$.page.more",
    });
    let answers = [
        r#"{"page":{"end":"x","more":true}}"#,
        r#"{"page":{"end":9,"more":true}}"#,
        r#"{"page":{"end":"y","more":false}}"#,
    ];
    let got = bodies(style, &answers).unwrap();
    let wanted = [r#"{"variables":{"after":"x"}}"#, r#"{"variables":{"after":9}}"#];
    assert_eq!(got, [format!("orders?x=1 {}", wanted[0]), format!("orders?x=1 {}", wanted[1]), "end".into()]);
}

#[test]
fn pages_are_numbered_until_one_is_short() {
    let style = json!({"type": "PageNumber", "page_size": 2, "page_size_param": "size"});
    let got = bodies(style, &[r#"{"items":[1,2]}"#, r#"{"items":[3,4]}"#, r#"{"items":[5]}"#]).unwrap();
    let page = |number: u64| format!("orders?x=1&page={number}&size=2 {PLAIN}");
    assert_eq!(got, [page(2), page(3), "end".into()]);
    let style = json!({"type": "PageNumber", "start_page": 0, "param_name": "p"});
    let got = bodies(style, &[r#"{"items":[1]}"#, r#"{"items":[2]}"#, r#"{"items":[]}"#]).unwrap();
    assert_eq!(got, [format!("orders?x=1&p=1 {PLAIN}"), format!("orders?x=1&p=2 {PLAIN}"), "end".into()]);
    let style = json!({"type": "PageNumber", "start_page": 0, "total_pages_path": "$.pages"});
    assert_eq!(
        bodies(style, &[r#"{"items":[1],"pages":2}"#, r#"{"items":[2],"pages":2}"#]).unwrap().last().unwrap(),
        "end"
    );
}

#[test]
fn a_server_that_ignores_the_page_is_no_endless_loop() {
    let style = json!({"type": "PageNumber"});
    let error = bodies(style, &[r#"{"items":[1]}"#, r#"{"items":[1]}"#]).unwrap_err();
    assert!(error.to_string().contains("ignore"), "{error}");
}

#[test]
fn records_are_skipped() {
    let style = json!({"type": "Offset", "limit": 2});
    let got = bodies(style, &[r#"{"items":[1,2]}"#, r#"{"items":[3]}"#]).unwrap();
    assert_eq!(got, [format!("orders?x=1&offset=2&limit=2 {PLAIN}"), "end".into()]);
    let style = json!({"type": "Offset", "limit": 100, "total_path": "$.total"});
    let got = bodies(style, &[r#"{"items":[1,2],"total":"3"}"#, r#"{"items":[3],"total":"3"}"#]).unwrap();
    assert_eq!(got[0], format!("orders?x=1&offset=2&limit=100 {PLAIN}"));
    assert_eq!(got[1], "end", "a server that gives less than it is asked for is believed by its total");
    let style = json!({"type": "OffsetInBody", "offset_field": "/variables/skip", "limit_field": "take", "limit": 1});
    let got = bodies(style, &[r#"{"items":[1]}"#, r#"{"items":[]}"#]).unwrap();
    assert_eq!(got, [r#"orders?x=1 {"variables":{"skip":1},"take":1}"#.to_owned(), "end".into()]);
    assert!(bodies(json!({"type": "Offset", "limit": 1, "total_path": "$.t"}), &[r#"{"items":[1]}"#]).is_err());
}

#[test]
fn links_are_followed_on_their_host() {
    let header = |links: &[&str]| {
        let answers: Vec<(&str, Option<&str>)> = links.iter().map(|link| ("{}", Some(*link))).collect();
        walk(json!({"type": "LinkHeader"}), &answers)
    };
    let got = header(&[r#"<?page=2>; rel="next""#, r#"</orders?page=1>; rel="prev""#]).unwrap();
    assert_eq!(got, [format!("orders?page=2 {PLAIN}"), "end".into()]);
    assert!(header(&[r#"<https://evil/?page=2>; rel="next""#]).unwrap_err().to_string().contains("another host"));
    assert!(header(&[r#"<?k=${secret:a}>; rel="next""#]).is_err());
    assert!(header(&[r#"<?x=1>; rel="next""#]).unwrap_err().to_string().contains("circle"), "a link to itself");
    let style = json!({"type": "NextLinkInBody", "next_link_path": "$.next"});
    let got = bodies(style.clone(), &[r#"{"next":"https://h/orders?c=2"}"#, r#"{"next":null}"#]).unwrap();
    assert_eq!(got, [format!("orders?c=2 {PLAIN}"), "end".into()]);
    assert!(bodies(style, &[r#"{"next":"http://h/orders"}"#]).is_err(), "another scheme is another host");
}
