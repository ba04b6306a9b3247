use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn the_table() {
    let row = StateKey::row("shop", "orders");
    let tuple = [("region", &json!("eu-west-1")), ("year", &json!(2024))];
    let keys = [
        row.clone(),
        row.child(&json!("customer-7")).unwrap(),
        row.product(tuple).unwrap(),
        row.shard("shard-3"),
        row.in_tenant("acme"),
        StateKey::backfill("shop", "a1b2", "2024-01"),
        StateKey::cdc("shop"),
        StateKey::table("shop", "public.orders"),
        row.marker(Marker::Sla),
        row.marker(Marker::Profiling),
        row.marker(Marker::Status),
        row.marker(Marker::Lease),
        row.marker(Marker::Rollback(None)),
        row.marker(Marker::Rollback(Some("run-1"))),
        StateKey::pipeline_marker("shop", Marker::Replication),
        StateKey::pipeline_marker("shop", Marker::Backfill("a1b2")),
        StateKey::pipeline_marker("shop", Marker::ServeBackfill("a1b2")),
        StateKey::natural("postgres-cdc", "shop_slot"),
    ];
    let rendered: Vec<&str> = keys.iter().map(StateKey::as_str).collect();
    assert_eq!(
        rendered,
        [
            "shop::orders",
            "shop::orders::customer-7",
            "shop::orders::region:eu-west-1/year:_n.2024",
            "shop::orders::shard-3",
            "acme::shop::orders",
            "shop::backfill::a1b2::2024-01",
            "shop::cdc",
            "shop::public.orders",
            "shop::orders::__sla__",
            "shop::orders::__profiling__",
            "shop::orders::__status__",
            "shop::orders::__lease__",
            "shop::orders::__rollback__",
            "shop::orders::__rollback__::run-1",
            "shop::__replication__",
            "shop::__backfill__::a1b2",
            "shop::__serve_backfill__::a1b2",
            "postgres-cdc:shop_slot",
        ]
    );
}

#[test]
fn parent_keys() {
    let key = |parent: Value| {
        let key = StateKey::row("n", "r").child(&parent).unwrap();
        key.as_str().strip_prefix("n::r::").unwrap().to_owned()
    };
    assert_eq!(key(json!("2024-01-01T00:00:00Z")), "2024-01-01T00:00:00Z");
    assert_eq!(key(json!("a/b.c_d-e")), "a/b.c_d-e");
    assert_eq!(key(json!(42)), "_n.42");
    assert_eq!(key(json!("42")), "42");
    assert_eq!(key(json!(-1.5)), "_n.-1.5");
    assert_eq!(key(json!(true)), "_b.true");
    assert_eq!(key(json!("true")), "true");
    assert_eq!(key(json!("_n.42")), "_s._n.42");
    assert_eq!(key(json!("_s._n.42")), "_s._s._n.42");
    assert_eq!(key(json!("__lease__")), "_s.__lease__");
    assert_eq!(key(json!("__status__")), "_s.__status__");
    // These hashes must never change: bookmarks are stored under them.
    assert_eq!(key(json!("ann@example.com")), "ann_example.com~71d4f55f72fa128dfb468a1a");
    assert_eq!(key(json!("a::b")), "a__b~78f0be89237d77f7a70e94e0");
}

#[test]
fn parents_without_a_key_are_refused() {
    for parent in [json!(null), json!(""), json!([1]), json!({})] {
        let error = StateKey::row("n", "r").child(&parent).unwrap_err();
        assert_eq!(error.code().id, "state.unusable_key");
    }
}

#[test]
fn what_earlier_schemes_called_a_key_is_known() {
    let row = StateKey::row("n", "r");
    let earlier = |parent: Value| row.child(&parent).unwrap().earlier().to_vec();
    assert_eq!(earlier(json!(42)), ["n::r::42"]);
    assert_eq!(earlier(json!("_n.42")), ["n::r::_n.42"]);
    assert_eq!(earlier(json!("ann@example.com")), ["n::r::ann@example.com"]);
    assert_eq!(earlier(json!("plain")), [""; 0]);
    assert_eq!(earlier(json!("__lease__")), [""; 0], "that was the marker itself");
    let tenant = row.child(&json!(42)).unwrap().in_tenant("acme").marker(Marker::Status);
    assert_eq!(tenant.earlier(), ["acme::n::r::42::__status__"]);
    let renamed = StateKey::row("n", "new").with_older([StateKey::row("n", "old"), StateKey::row("n", "new")]);
    assert_eq!(renamed.earlier(), ["n::old"]);
}

#[test]
fn a_table_is_never_taken_for_the_stream() {
    assert_ne!(StateKey::table("n", "cdc"), StateKey::cdc("n"));
    assert_eq!(StateKey::table("n", "cdc").as_str(), "n::_s.cdc");
}

fn parent() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        any::<String>().prop_filter("not empty", |s| !s.is_empty()).prop_map(Value::from),
        "[a-z_.:/~0-9]{1,12}".prop_map(Value::from),
        "_[a-z]\\.(-?[0-9]{1,3}|true)|__[a-z]{1,8}__|[0-9]{1,3}".prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn different_parents_never_share_a_bookmark(a in parent(), b in parent()) {
        let row = StateKey::row("n", "r");
        let (a_key, b_key) = (row.child(&a).unwrap(), row.child(&b).unwrap());
        if a != b {
            prop_assert_ne!(a_key.as_str(), b_key.as_str());
        }
        for marker in [Marker::Lease, Marker::Status, Marker::Sla, Marker::Rollback(Some("x"))] {
            let marked = row.marker(marker);
            prop_assert_ne!(a_key.as_str(), marked.as_str());
        }
    }

    #[test]
    fn no_value_splits_a_key(row in any::<String>(), parent in parent()) {
        let key = StateKey::row("n", &row).child(&parent).unwrap();
        let rest = key.as_str().strip_prefix("n::").unwrap();
        prop_assert_eq!(rest.split("::").count(), 2, "{}", key);
    }

    #[test]
    fn tuples_of_different_values_differ(a in parent(), b in parent(), c in parent(), d in parent()) {
        let row = StateKey::row("n", "r");
        let one = row.product([("x", &a), ("y", &b)]).unwrap();
        let two = row.product([("x", &c), ("y", &d)]).unwrap();
        prop_assert_eq!(one == two, a == c && b == d);
    }
}
