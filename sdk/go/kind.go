package faucet

// Kind says what the values of a column are.
type Kind uint8

// The kinds of values.
const (
	Boolean Kind = iota
	Int64
	Uint64
	Float32
	Float64
	// Decimal is exact decimal text: -12.340, NaN, Infinity, -Infinity.
	Decimal
	// Text is UTF-8.
	Text
	Bytes
	// DateKind is days since 1970-01-01: see [Date].
	DateKind
	// TimeKind is a time of day: see [Time].
	TimeKind
	// TimestampKind is a clock without a zone: see [Timestamp].
	TimestampKind
	// TimestamptzKind is a point in time: see [Timestamp].
	TimestamptzKind
	// IntervalKind is a span of time: see [Interval].
	IntervalKind
	// UUIDKind is a [UUID].
	UUIDKind
	// JSON is one document as exact text.
	JSON
	// Native is the exact text of a type that faucet has no kind for.
	Native
)

var kindNames = [...]string{"boolean", "int64", "uint64", "float32", "float64", "decimal", "text", "bytes", "date", "time",
	"timestamp", "timestamptz", "interval", "uuid", "json", "native"}

// String is the kind's name as messages and files spell it.
func (k Kind) String() string { return kindNames[k] }

// widths has the bytes of a value; 0 for booleans and for kinds with offsets.
var widths = [...]int{0, 8, 8, 4, 8, 0, 0, 0, 4, 8, 8, 8, 16, 16, 0, 0}

// isText says whether values are UTF-8.
func (k Kind) isText() bool { return k == Decimal || k == Text || k == JSON || k == Native }

// hasOffsets says whether values are cut out of their data by offsets.
func (k Kind) hasOffsets() bool { return k.isText() || k == Bytes }

// Op is what a row of a change-data source is. A destination that misses a delete keeps a row it should not have.
type Op byte

// What happened to a row.
const (
	// Plain is a row of a page without the column __op.
	Plain Op = 0
	// Create is a row that was created.
	Create Op = 'c'
	// Update is a row that was updated. Columns that were not sent are absent.
	Update Op = 'u'
	// Delete is a row that was deleted. Only its key has values.
	Delete Op = 'd'
	// Read is a row that the snapshot read.
	Read Op = 'r'
	// Truncate says that the table was emptied. No column has a value.
	Truncate Op = 't'
)

// OpColumn is the name of the column that says what a row of a change-data source is.
const OpColumn = "__op"
