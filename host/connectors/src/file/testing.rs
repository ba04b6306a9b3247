//! What the tests of file connectors share: running a source to its end, and feeding a sink.

use faucet_core::error::Result;
use faucet_core::model::{Field, Kind, Page, PageBuilder, Schema, TableId, ValueRef};
use faucet_core::ports::{OnDrift, SchemaPolicy, Sink, SinkConnector, SinkContext, SourceConnector, SourceContext};
use std::sync::Arc;

pub(crate) fn config<C: serde::de::DeserializeOwned>(json: serde_json::Value) -> C {
    serde_json::from_value(json).unwrap()
}

/// The pages a source delivers.
pub(crate) async fn pages<C: SourceConnector>(json: serde_json::Value) -> Result<Vec<Page>> {
    let config: C::Config = config(json);
    assert_eq!(C::validate(&config), []);
    let mut source = C::open(config, SourceContext::default()).await?;
    let mut pages = Vec::new();
    while let Some(batch) = source.next().await? {
        pages.extend(batch.pages);
    }
    source.close().await?;
    Ok(pages)
}

pub(crate) async fn sink<C: SinkConnector>(json: serde_json::Value) -> Result<Box<dyn Sink>> {
    drifting::<C>(json, OnDrift::default()).await
}

/// The same with a policy for columns that the destination lacks.
pub(crate) async fn drifting<C: SinkConnector>(json: serde_json::Value, on_drift: OnDrift) -> Result<Box<dyn Sink>> {
    let config: C::Config = config(json);
    assert_eq!(C::validate(&config), []);
    let schema = SchemaPolicy { on_drift, ..SchemaPolicy::default() };
    C::open(config, SinkContext { schema, ..SinkContext::default() }).await
}

/// Writes, commits and finishes.
pub(crate) async fn write_all<C: SinkConnector>(json: serde_json::Value, pages: Vec<Page>) -> Result<()> {
    let mut sink = sink::<C>(json).await?;
    for page in pages {
        sink.write(page).await?;
    }
    sink.commit(None).await?;
    sink.finish().await?;
    sink.close().await
}

/// A page of the given rows.
pub(crate) fn page(fields: &[(&str, Kind)], rows: &[&[ValueRef<'_>]]) -> Page {
    let fields = fields.iter().map(|(name, kind)| Field::new(*name, *kind)).collect();
    let mut page = PageBuilder::rows(Arc::new(Schema::new(TableId::bare("t"), fields)));
    for row in rows {
        page.columns().iter_mut().zip(*row).for_each(|(column, value)| column.push(*value));
        page.end_row();
    }
    page.finish()
}

/// Two rows of every kind but `native`: unusual values, and nulls.
pub(crate) fn every_kind() -> Page {
    let uuid = [0xab; 16];
    let values = [
        ValueRef::Bool(true),
        ValueRef::I64(i64::MIN),
        ValueRef::U64(u64::MAX),
        ValueRef::F32(f32::MIN_POSITIVE),
        ValueRef::F64(f64::NEG_INFINITY),
        ValueRef::Decimal("-12345678901234567890.1234567890"),
        ValueRef::Text("a\n\"b\",\r;é"),
        ValueRef::Bytes(&[0, 255]),
        ValueRef::Date(-719_163),
        ValueRef::Time(86_400_000_000),
        ValueRef::Timestamp(i64::MAX),
        ValueRef::TimestampTz(-1),
        ValueRef::Interval(faucet_core::model::Interval { months: -14, days: 3, microseconds: -1 }),
        ValueRef::Uuid(&uuid),
        ValueRef::Json("{\"a\":[1.50,null]}"),
    ];
    let fields: Vec<_> = Kind::ALL.iter().take(15).map(|kind| (kind.name(), *kind)).collect();
    page(&fields, &[&values, &[ValueRef::Null; 15]])
}

/// The `columns` that read [`every_kind`] back.
pub(crate) fn every_declaration() -> serde_json::Value {
    Kind::ALL
        .iter()
        .take(15)
        .map(|kind| (kind.name().to_owned(), kind.name().into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The rows of a page, shown.
pub(crate) fn shown(page: &Page) -> Vec<String> {
    (0..page.rows()).map(|row| format!("{:?}", page.row(row).values().collect::<Vec<_>>())).collect()
}
