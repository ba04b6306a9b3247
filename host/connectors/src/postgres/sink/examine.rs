//! What `faucet doctor` looks at in the destination. Nothing is changed.

use faucet_core::error::Result;
use faucet_core::ports::{Finding, WriteMode};
use tokio_postgres::{Client, Row};

use super::SinkConfig;
use super::target::Target;
use super::token::TABLE;
use super::writer::{missing, unnamed_schema};
use crate::postgres::Endpoint;
use crate::postgres::error::from_driver;
use crate::postgres::name::{list, qualified, quoted};

/// Examines all that writing with `config` depends on.
pub(super) async fn examine(config: &SinkConfig, pipeline: &str) -> Result<Vec<Finding>> {
    let endpoint = Endpoint::new(&config.connection_url, config.tls.as_ref())?;
    let session = match endpoint.connect(pipeline).await {
        Ok(session) => session,
        Err(error) => return Ok(vec![Finding::error("destination", &error)]),
    };
    let mut findings = vec![server(&session).await?];
    findings.extend(table(&session, config).await?);
    session.close().await;
    Ok(findings)
}

async fn server(client: &Client) -> Result<Finding> {
    let sql = "SELECT pg_catalog.current_setting('server_version'), pg_catalog.current_database()::text, \
               current_user::text, pg_catalog.pg_is_in_recovery() OR pg_catalog.current_setting('transaction_read_only') = 'on'";
    let row = client.query_one(sql, &[]).await.map_err(|e| from_driver(&e))?;
    let (version, database, role): (&str, &str, &str) = (row.get(0), row.get(1), row.get(2));
    let what = format!("PostgreSQL {version}, database \"{database}\", role \"{role}\"");
    Ok(match row.get(3) {
        false => Finding::fine("destination", what),
        true => Finding::failure(
            "destination",
            format!("{what}: it accepts no writes"),
            "name the primary in the sink's `connection_url`, or add `target_session_attrs=read-write` to it",
        ),
    })
}

async fn table(client: &Client, config: &SinkConfig) -> Result<Vec<Finding>> {
    let subject = format!("destination {}", qualified(config.schema.as_deref(), &config.table_name));
    let target = match Target::find(client, config.schema.as_deref(), &config.table_name, config.write_mode).await {
        Ok(Some(target)) => target,
        Ok(None) if config.create_table => return will_be_made(client, config, &subject).await,
        Ok(None) => return Ok(vec![Finding::error(&subject, &missing(config))]),
        Err(error) => return Ok(vec![Finding::error(&subject, &error)]),
    };
    let mut findings = vec![match (config.write_mode, target.check_key(&config.key)) {
        (WriteMode::Upsert, Err(error)) => Finding::error(&subject, &error),
        (WriteMode::Upsert, Ok(())) => {
            let key = list(config.key.iter().map(String::as_str));
            Finding::fine(&subject, format!("is there, with a unique index on ({key})"))
        }
        _ => Finding::fine(&subject, "is there"),
    }];
    let row = client.query_one(LOOK, &[&target.sql(), &target.schema, &TABLE]).await.map_err(|e| from_driver(&e))?;
    findings.extend(privileges(&row, &target, &subject, config.write_mode));
    findings.extend(
        [tokens(&row, &target), triggers(&row, &subject), references(&row, &subject), hidden(&row, &subject)]
            .into_iter()
            .flatten(),
    );
    Ok(findings)
}

/// The table doesn't exist and faucet makes it.
async fn will_be_made(client: &Client, config: &SinkConfig, subject: &str) -> Result<Vec<Finding>> {
    let sql = "SELECT s.name, pg_catalog.has_schema_privilege(s.name, 'CREATE'), current_user::text \
               FROM (SELECT COALESCE($1::text, pg_catalog.current_schema()::text)) AS s (name) \
               WHERE pg_catalog.to_regnamespace(pg_catalog.quote_ident(s.name)) IS NOT NULL";
    let row = client.query_opt(sql, &[&config.schema]).await.map_err(|e| from_driver(&e))?;
    Ok(vec![match row {
        None => Finding::error(subject, &unnamed_schema(config)),
        Some(row) if row.get(1) => Finding::fine(subject, "does not exist yet; the first run makes it"),
        Some(row) => Finding::failure(
            subject,
            "does not exist, and this role may not make it",
            format!("run `GRANT CREATE ON SCHEMA {} TO {}`", quoted(row.get(0)), quoted(row.get(2))),
        ),
    }])
}

/// $1 table, $2 schema, $3 table of tokens.
const LOOK: &str = "\
SELECT current_user::text,
  ARRAY(SELECT p FROM pg_catalog.unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS p
    WHERE NOT pg_catalog.has_table_privilege(c.oid, p)),
  pg_catalog.to_regclass(pg_catalog.format('%I.%I', $2::text, $3::text)) IS NOT NULL
    OR pg_catalog.has_schema_privilege($2::text, 'CREATE'),
  ARRAY(SELECT g.tgname::text FROM pg_catalog.pg_trigger g
    WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND (g.tgenabled = 'A'
      OR g.tgenabled = CASE WHEN pg_catalog.current_setting('session_replication_role') = 'replica' THEN 'R' ELSE 'O' END)
    ORDER BY 1),
  ARRAY(SELECT f.conname::text || CASE WHEN f.conrelid = c.oid THEN '' ELSE ' of ' || f.conrelid::pg_catalog.regclass::text END
    FROM pg_catalog.pg_constraint f WHERE f.contype = 'f' AND c.oid IN (f.conrelid, f.confrelid) ORDER BY 1),
  pg_catalog.row_security_active(c.oid)
FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass($1::text)";

fn privileges(row: &Row, target: &Target, subject: &str, mode: WriteMode) -> Option<Finding> {
    let lacking: Vec<String> = row.get(1);
    let needed: &[&str] = match mode {
        WriteMode::Append => &["INSERT"],
        WriteMode::Upsert => &["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"],
        WriteMode::Overwrite => &["SELECT", "INSERT", "DELETE", "TRUNCATE"],
    };
    let lacking: Vec<&str> = needed.iter().copied().filter(|p| lacking.iter().any(|l| l == p)).collect();
    if lacking.is_empty() {
        return None;
    }
    let (lacking, role) = (lacking.join(", "), quoted(row.get(0)));
    let hint = format!("run `GRANT {lacking} ON {} TO {role}`", target.sql());
    Some(if lacking == "TRUNCATE" {
        Finding::warning(subject, "this role may not TRUNCATE: a TRUNCATE at the source would stop the run", hint)
    } else {
        Finding::failure(subject, format!("this role lacks {lacking}"), hint)
    })
}

/// The table that says how far the destination is, beside the rows.
fn tokens(row: &Row, target: &Target) -> Option<Finding> {
    (!row.get::<_, bool>(2)).then(|| {
        let (schema, role) = (quoted(&target.schema), quoted(row.get(0)));
        Finding::failure(
            format!("destination {}", qualified(Some(&target.schema), TABLE)),
            "does not exist, and this role may not make it: it holds how far the destination is",
            format!("run `GRANT CREATE ON SCHEMA {schema} TO {role}`"),
        )
    })
}

fn triggers(row: &Row, subject: &str) -> Option<Finding> {
    let triggers: Vec<String> = row.get(3);
    (!triggers.is_empty()).then(|| {
        Finding::warning(
            subject,
            format!("triggers fire on copied rows: {}", triggers.join(", ")),
            "what they change differs from the source; `ALTER TABLE .. ENABLE REPLICA TRIGGER` keeps one for replication only",
        )
    })
}

fn references(row: &Row, subject: &str) -> Option<Finding> {
    let references: Vec<String> = row.get(4);
    (!references.is_empty()).then(|| {
        Finding::warning(
            subject,
            format!("foreign keys bind its rows: {}", references.join(", ")),
            "a row whose counterpart isn't there yet is refused, and ON DELETE acts beside the source's own changes: drop \
             them at the destination unless both tables are kept by hand",
        )
    })
}

fn hidden(row: &Row, subject: &str) -> Option<Finding> {
    row.get::<_, bool>(5).then(|| {
        let role = quoted(row.get(0));
        Finding::failure(
            subject,
            "row security hides rows from this role, so that changes don't find them",
            format!("run `ALTER ROLE {role} BYPASSRLS` as superuser, or write as the table's owner"),
        )
    })
}
