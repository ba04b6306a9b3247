//! PostgreSQL's types and values that break things: one table, walked by every test that moves values.

use crate::database::Client;

/// A type, the kind faucet reads it as, and literals of it.
#[derive(Debug, Clone)]
pub struct TypeCase {
    /// As DDL spells it.
    pub name: String,
    /// The name of the kind.
    pub kind: &'static str,
    /// SQL expressions.
    pub literals: Vec<String>,
    /// Whether a column of it can be null.
    pub nullable: bool,
}

type Listed = (&'static str, &'static str, &'static [&'static str]);

/// What has a kind of its own.
const KINDS: &[Listed] = &[
    ("boolean", "boolean", &["true", "false"]),
    ("smallint", "int64", &["-32768", "32767", "0"]),
    ("integer", "int64", &["-2147483648", "2147483647", "0"]),
    ("bigint", "int64", &["-9223372036854775808", "9223372036854775807", "9007199254740993", "-9007199254740993"]),
    ("oid", "int64", &["0", "4294967295", "2147483648"]),
    (
        "real",
        "float32",
        &["'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "1e-45", "3.4028235e38", "0.1", "16777217", "1e15", "1e-5"],
    ),
    (
        "double precision",
        "float64",
        &[
            "'NaN'",
            "'inf'::float8 - 'inf'::float8",
            "'Infinity'",
            "'-Infinity'",
            "'-0'",
            "5e-324",
            "1.7976931348623157e308",
            "0.1",
            "1e22",
            "9007199254740993",
        ],
    ),
    (
        "numeric",
        "decimal",
        &[
            "'NaN'",
            "'Infinity'",
            "'-Infinity'",
            "0",
            "0.00",
            "-0.10",
            "1.50",
            "10000",
            "0.0001",
            "123456789012345678901234567890",
            "1e-16383",
            "('1' || repeat('0', 131071))::numeric",
            "('-' || repeat('9', 131072) || '.' || repeat('8', 16383))::numeric",
            "1e131071",
            "9999.9999",
            "10000.00001",
        ],
    ),
    ("numeric(12,2)", "decimal", &["1.5", "-0.005", "9999999999.99", "'NaN'"]),
    ("numeric(3,-2)", "decimal", &["12345", "-99949"]),
    (
        "text",
        "text",
        &["''", "'NULL'", r"'\N'", r"E'a\tb\nc\rd\\e'", "'ünïcødé 🚰'", "repeat('x', 300000)", r"'\.'", r"E'\x01'"],
    ),
    ("varchar(10)", "text", &["''", "'a b '", "'ääääääääää'"]),
    ("char(5)", "text", &["''", "'ab'", "'ab   '"]),
    ("bpchar", "text", &["'ab  '", "''"]),
    ("name", "text", &["''", "'pg_class'"]),
    ("\"char\"", "text", &["''", "'a'", "'\\'"]),
    ("bytea", "bytes", &["''", r"'\x00'", r"'\x00ff5c0a0d09'", "decode(repeat('ab', 200000), 'hex')"]),
    (
        "date",
        "date",
        &[
            "'1970-01-01'",
            "'0001-12-31 BC'",
            "'4714-11-24 BC'",
            "'5874897-12-31'",
            "'infinity'",
            "'-infinity'",
            "'2024-02-29'",
            "'1582-10-10'",
        ],
    ),
    ("time", "time", &["'00:00'", "'24:00:00'", "'23:59:59.999999'", "'12:34:56.7'"]),
    ("time(2)", "time", &["'12:34:56.789'"]),
    (
        "timestamp",
        "timestamp",
        &[
            "'epoch'",
            "'4714-11-24 00:00:00 BC'",
            "'0001-12-31 23:59:59.999999 BC'",
            "'294246-12-31 23:59:59.999999'",
            "'290000-06-15 12:00:00.000001'",
            "'infinity'",
            "'-infinity'",
            "'15000-01-01'",
            "'1969-12-31 23:59:59.999999'",
        ],
    ),
    ("timestamp(0)", "timestamp", &["'2024-01-01 00:00:00.5'"]),
    (
        "timestamptz",
        "timestamptz",
        &[
            "'epoch'",
            "'4714-11-24 00:00:00+00 BC'",
            "'0001-12-31 23:59:59.999999+00 BC'",
            "'294246-12-31 23:59:59.999999+00'",
            "'infinity'",
            "'-infinity'",
            "'2024-03-31 02:30:00+02'",
            "'1900-01-01 00:00:00+00'",
        ],
    ),
    (
        "interval",
        "interval",
        &[
            "'0'",
            "'1 mon -2 days 03:04:05.000006'",
            "'-1 year -1 mon'",
            "'-0.000001 s'",
            "'178000000 years'",
            "'-178000000 years'",
            "make_interval(days => 2147483647)",
            "make_interval(days => -2147483648)",
            "'2562047788:00:54.775807'",
            "'-2562047788:00:54.775807'",
            "'1 year -1 day 1 sec'",
            "'-1 mon 2 days -00:00:00.5'",
            "'100 hours'",
        ],
    ),
    ("interval(2)", "interval", &["'1.239 s'"]),
    ("uuid", "uuid", &["'00000000-0000-0000-0000-000000000000'", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'"]),
    (
        "json",
        "json",
        &["'null'", "'{\"a\" : [1,  2]}'", "'\"str\"'", "'{}'", "'1e400'", "'9007199254740993'", "'{\"a\":1,\"a\":2}'"],
    ),
    (
        "jsonb",
        "json",
        &[
            "'null'",
            "'{\"b\": 1.50, \"a\": [1, 2]}'",
            "'\"str\"'",
            "'{}'",
            "'[]'",
            "'\"\\u00e9\\n\"'",
            "'[9007199254740993, -123456789012345678901234567890.10]'",
            "'false'",
        ],
    ),
];

/// What travels as its own text.
const NATIVE: &[Listed] = &[
    ("timetz", "native", &["'12:00:00+05:30'", "'24:00:00-15:59'", "'00:00:00+00'"]),
    ("money", "native", &["12.34", "-92233720368547758.08", "92233720368547758.07"]),
    ("bit(1)", "native", &["B'1'", "B'0'"]),
    ("bit(8)", "native", &["B'10101010'"]),
    ("varbit(8)", "native", &["B''", "B'10110'"]),
    ("varbit", "native", &["B''", "repeat('10', 1000)::varbit"]),
    ("inet", "native", &["'1.2.3.4'", "'1.2.3.4/32'", "'1.2.3.0/24'", "'::1'", "'::ffff:1.2.3.4/64'"]),
    ("cidr", "native", &["'10.0.0.0/8'", "'1.2.3.4/32'", "'::/0'"]),
    ("macaddr", "native", &["'08:00:2b:01:02:03'"]),
    ("macaddr8", "native", &["'08:00:2b:01:02:03:04:05'"]),
    ("xml", "native", &["'<a>b</a>'", "'text only'", "'<?xml version=\"1.0\"?><a b=\"&lt;\"/>'"]),
    ("point", "native", &["'(0.1,-0)'", "'(NaN,Infinity)'"]),
    ("line", "native", &["'{1,-1,0}'"]),
    ("lseg", "native", &["'[(0,0),(1e300,1)]'"]),
    ("box", "native", &["'(1,1),(0,0)'"]),
    ("path", "native", &["'[(0,0),(1,1)]'", "'((0,0),(1,1))'"]),
    ("polygon", "native", &["'((0,0),(1,1),(1,0))'"]),
    ("circle", "native", &["'<(0,0),1.5>'"]),
    ("tsvector", "native", &["'a:1A fat:2B,4C cat:5D'", "''", "'''it''''s'' ''a b'''"]),
    ("tsquery", "native", &["'fat & (rat | !cat:ab) <-> x:*'", "''"]),
    ("int4range", "native", &["'empty'", "'(,)'", "'[1,5)'"]),
    ("int8range", "native", &["'[9007199254740993,]'"]),
    ("numrange", "native", &["'[1.50,2.00]'", "'(-Infinity,NaN)'"]),
    ("daterange", "native", &["'[,infinity)'", "'[0044-03-15 BC,]'"]),
    ("tsrange", "native", &["'[\"2020-01-01 00:00:00\",)'"]),
    ("tstzrange", "native", &["'[,2020-01-01)'", "'[2020-01-01 00:00:00+02,infinity]'"]),
    ("int4multirange", "native", &["'{}'"]),
    ("int8multirange", "native", &["'{[1,2),[5,)}'"]),
    ("nummultirange", "native", &["'{[1.0,2.0),(3.00,)}'"]),
    ("tstzmultirange", "native", &["'{[2020-01-01 00:00:00+02,2020-01-02)}'"]),
    ("bigint[]", "native", &["'{1,NULL,3}'", "'[0:1]={7,8}'", "'{}'", "'{{1,2},{3,4}}'", "'[-1:0][2:2]={{1},{2}}'"]),
    (
        "text[]",
        "native",
        &[
            "'{\"NULL\",NULL}'",
            "'{\"NULL\",NULL,\"\",\"a,b\",\"c\\\\d\"}'",
            "'{{NULL},{NULL}}'",
            "'{\"{\",\"}\",\" a \",\"q\\\"q\"}'",
        ],
    ),
    ("interval[]", "native", &["'{1 mon -2 days}'"]),
    ("timestamptz[]", "native", &["'{2024-01-01 00:00:00+02,infinity}'"]),
    ("pg_lsn", "native", &["'16/B374D848'", "'0/0'"]),
    ("jsonpath", "native", &["'$.a[*] ? (@ > 2)'", "'strict $.\"a b\"'"]),
    ("txid_snapshot", "native", &["'10:20:10,14,15'", "'10:10:'"]),
    ("pg_snapshot", "native", &["'10:20:10,14,15'"]),
    ("xid", "native", &["'4294967295'"]),
    ("xid8", "native", &["'18446744073709551615'"]),
    ("cid", "native", &["'4294967295'"]),
    ("tid", "native", &["'(4294967295,65535)'"]),
    ("refcursor", "native", &["'<unnamed portal 1>'"]),
    ("aclitem", "native", &["'=r/postgres'", "'postgres=arwd*/postgres'"]),
    ("int2vector", "native", &["'1 2 3'", "''"]),
    ("oidvector", "native", &["'1 4294967295'"]),
    ("regclass", "native", &["'pg_class'", "'a.\"Odd.name\"'", "4000000000::oid::regclass", "0::oid::regclass"]),
    ("regtype", "native", &["'timestamp with time zone'", "'a.mood'", "'a.mood[]'"]),
    ("regproc", "native", &["'pg_catalog.now'"]),
    ("regprocedure", "native", &["'pg_catalog.abs(integer)'"]),
    ("regoper", "native", &["'pg_catalog.||/'"]),
    ("regoperator", "native", &["'pg_catalog.+(integer,integer)'"]),
    ("regrole", "native", &["'postgres'", "'-'"]),
    ("regnamespace", "native", &["'a'"]),
    ("regconfig", "native", &["'english'"]),
    ("regdictionary", "native", &["'simple'"]),
    ("regcollation", "native", &["'\"C\"'"]),
];

/// What [`prepare`] makes.
const MADE: &[Listed] = &[
    ("a.mood", "native", &["'sad'", "'o''k, \"fine\"'"]),
    ("b.mood", "native", &["'angry'"]),
    ("a.pair", "native", &["ROW(1, NULL)::a.pair", "ROW(NULL, NULL)::a.pair", "ROW(2, 'x,y')::a.pair", "ROW(3, '')"]),
    (
        "a.nested",
        "native",
        &[
            "ROW(ROW(1, 'q\"uo''te'), '{\"a b\",NULL,\"\"}', 'o''k, \"fine\"', '[1,2)', '{\"k\": null}')::a.nested",
            "ROW(NULL, NULL, NULL, NULL, NULL)::a.nested",
            "ROW(ROW(NULL, '(,)\\'), '{}', NULL, 'empty', 'null')::a.nested",
        ],
    ),
    ("a.amount", "decimal", &["1.5"]),
    ("a.deep", "decimal", &["2.25"]),
    ("a.address", "native", &["'1.2.3.4'"]),
    ("a.label", "text", &["'x'"]),
    ("a.document", "native", &["'<?xml version=\"1.0\"?><a/>'"]),
    ("a.tags", "native", &["'{x,NULL,\"y z\"}'", "'{}'"]),
    ("a.couple", "native", &["ROW(5, 'five')::a.pair"]),
    ("a.span", "native", &["'[1.5,)'", "'empty'"]),
    ("a.spans", "native", &["'{[1.5,2.5),[4,)}'"]),
    ("a.hstore", "native", &["'a=>1, \"b c\"=>NULL, \"NULL\"=>\"NULL\", \"\"=>\"q\\\"\"'", "''"]),
    ("a.citext", "text", &["'MiXed'", "''"]),
    ("a.ltree", "native", &["'Top.Science'", "''"]),
    ("a.cube", "native", &["'(1,2),(3,4)'"]),
    ("a.seg", "native", &["'1.50 .. 2'"]),
];

/// Only where the extension is installed.
const VECTOR: &[Listed] =
    &[("a.vector(3)", "native", &["'[1,2.5,-3e-10]'"]), ("a.sparsevec(5)", "native", &["'{}/5'", "'{1:1.5}/5'"])];

fn case(&(name, kind, literals): &Listed) -> TypeCase {
    let literals = literals.iter().map(|literal| (*literal).to_owned()).collect();
    TypeCase { name: name.to_owned(), kind, literals, nullable: name != "a.label" }
}

/// An array with every value of the type, a null between them.
fn array(case: &TypeCase) -> TypeCase {
    let values = case.literals.join(", NULL, ");
    let literals = vec![format!("ARRAY[{values}]::{}[]", case.name), "'{}'".to_owned()];
    TypeCase { name: format!("{}[]", case.name), kind: "native", literals, nullable: true }
}

/// Types and values that came with PostgreSQL 15.
const SINCE_15: &[&str] = &["numeric(3,-2)", "'2562047788:00:54.775807'", "'-2562047788:00:54.775807'"];

/// What an older server has of it.
fn before_15(mut case: TypeCase) -> Option<TypeCase> {
    case.literals.retain(|literal| !SINCE_15.contains(&literal.as_str()));
    (!SINCE_15.contains(&case.name.as_str())).then_some(case)
}

/// Every type that the server has, and an array of each that has one.
pub fn all(client: &Client) -> Vec<TypeCase> {
    let old = client.one("SHOW server_version_num").as_str() < "150000";
    let vector = client.one("SELECT count(*) FROM pg_extension WHERE extname = 'vector'") == "1";
    let more = if vector { VECTOR } else { &[] };
    let cases: Vec<TypeCase> = KINDS.iter().chain(NATIVE).chain(MADE).chain(more).map(case).collect();
    let cases = if old { cases.into_iter().filter_map(before_15).collect() } else { cases };
    let arrays: Vec<TypeCase> = cases.iter().filter(|c| c.nullable && !c.name.ends_with("[]")).map(array).collect();
    cases.into_iter().chain(arrays).collect()
}

/// Makes the types that are not built in.
pub fn prepare(client: &Client) {
    client.execute(
        "CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.\"Odd.name\" (id int);
         CREATE TYPE a.mood AS ENUM ('sad', 'o''k, \"fine\"'); CREATE TYPE b.mood AS ENUM ('angry');
         CREATE TYPE a.pair AS (x int, y text);
         CREATE TYPE a.nested AS (p a.pair, tags text[], m a.mood, r int4range, j jsonb);
         CREATE DOMAIN a.amount AS numeric(10,2) CHECK (VALUE > 0); CREATE DOMAIN a.deep AS a.amount;
         CREATE DOMAIN a.address AS inet; CREATE DOMAIN a.label AS varchar(3) NOT NULL DEFAULT 'd';
         CREATE DOMAIN a.tags AS text[]; CREATE DOMAIN a.document AS xml; CREATE DOMAIN a.couple AS a.pair;
         CREATE TYPE a.span AS RANGE (subtype = float8, multirange_type_name = a.spans);
         CREATE COLLATION a.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
         CREATE EXTENSION hstore SCHEMA a; CREATE EXTENSION citext SCHEMA a; CREATE EXTENSION ltree SCHEMA a;
         CREATE EXTENSION cube SCHEMA a; CREATE EXTENSION seg SCHEMA a;",
    );
    if client.one("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == "1" {
        client.execute("CREATE EXTENSION vector SCHEMA a");
    }
}
