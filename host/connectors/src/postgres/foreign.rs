//! Parameters that other drivers take in a connection URL and that mean nothing here.
//!
//! A name is shown only if it is one of these: what is not known can be a piece of a password.

/// What to say about the parameter, if it is well known elsewhere.
pub(super) fn advice(key: &str) -> Option<(&'static str, &'static str)> {
    FOREIGN
        .iter()
        .flat_map(|(names, advice)| names.iter().map(move |name| (*name, *advice)))
        .find(|(name, _)| *name == key)
}

const POOLER: &str = "remove it; if it stands for a pooler, give the server's own host and port: a change stream and its \
                      snapshot need sessions of their own";
const POOL: &str = "remove it: faucet has no pool; each pipeline opens a handful of sessions";
const STATEMENTS: &str =
    "remove it: it is about statements that a driver keeps, and faucet keeps none between transactions";
const SCHEMA: &str =
    "remove it, and write the schema where it belongs: `schema.table` in the query, `schema` in the sink";
const TIMEOUT: &str =
    "remove it; `connect_timeout` (in seconds) and `tcp_user_timeout` (in milliseconds) are known here";
const TLS: &str = "say it with `sslmode`, `sslrootcert`, `sslcert` and `sslkey`";
const KEY_PASSWORD: &str = "remove it, and give a key file that is not encrypted";
const NAME: &str = "write `application_name`";
const FILE: &str = "remove it, and write what the file says here, with `${env:NAME}` for the password";
const KERBEROS: &str = "remove it: there is no GSSAPI here";
const AUTH: &str =
    "remove it: it can't be asked for here; `channel_binding=require` holds the server to SCRAM over TLS";
const SERVER: &str = "set it for the role (`ALTER ROLE name SET ..`), or write `options=-c%20name%3Dvalue`";
const OURS: &str = "remove it: faucet opens replication sessions by itself";

const FOREIGN: &[(&[&str], &str)] = &[
    (&["pgbouncer", "prepareThreshold", "supavisor", "pooler", "workaround"], POOLER),
    (
        &[
            "connection_limit",
            "pool_timeout",
            "pool_size",
            "max_pool_size",
            "min_pool_size",
            "pool_max_conns",
            "pool_min_conns",
            "pool_max_conn_lifetime",
            "pool_max_conn_idle_time",
            "max_connections",
            "pooling",
            "maximum_pool_size",
            "poolclass",
            "max",
        ],
        POOL,
    ),
    (
        &[
            "statement_cache_size",
            "statement_cache_capacity",
            "statement_cache_mode",
            "description_cache_capacity",
            "default_query_exec_mode",
            "prepared_statement_cache_size",
            "prepared_statements",
            "binary_parameters",
            "statement-cache-capacity",
            "preferQueryMode",
        ],
        STATEMENTS,
    ),
    (&["schema", "currentSchema", "search_path"], SCHEMA),
    (&["socket_timeout", "socketTimeout", "connectTimeout", "loginTimeout", "command_timeout", "timeout"], TIMEOUT),
    (
        &[
            "ssl",
            "sslaccept",
            "sslidentity",
            "ssl-mode",
            "ssl_mode",
            "ssl-ca",
            "ssl_min_protocol_version",
            "sslcrl",
            "sslcrldir",
            "sslcertmode",
            "sslcompression",
            "uselibpqcompat",
            "sslfactory",
            "tls",
            "requiressl",
        ],
        TLS,
    ),
    (&["sslpassword"], KEY_PASSWORD),
    (&["ApplicationName"], NAME),
    (&["passfile", "service", "servicefile"], FILE),
    (&["krbsrvname", "gsslib", "gssdelegation"], KERBEROS),
    (&["requirepeer", "require_auth"], AUTH),
    (&["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "timezone", "TimeZone"], SERVER),
    (&["replication"], OURS),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_well_known_is_named() {
        assert_eq!(advice("pgbouncer"), Some(("pgbouncer", POOLER)));
        assert_eq!(advice("s3cret"), None);
    }
}
