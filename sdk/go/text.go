package faucet

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// AppendText appends the value of a row as text, as faucet's own files spell it; nothing where there is none.
func (c *Column) AppendText(to []byte, row int) []byte {
	if !c.Has(row) {
		return to
	}
	switch c.kind {
	case Boolean:
		return strconv.AppendBool(to, c.Boolean(row))
	case Int64:
		return strconv.AppendInt(to, c.Int64(row), 10)
	case Uint64:
		return strconv.AppendUint(to, c.Uint64(row), 10)
	case Float32:
		return appendFloat(to, float64(c.Float32(row)), 32)
	case Float64:
		return appendFloat(to, c.Float64(row), 64)
	case Bytes:
		return hex.AppendEncode(append(to, '\\', 'x'), c.Bytes(row))
	case DateKind:
		return c.Date(row).append(to)
	case TimeKind:
		return c.Time(row).append(to)
	case TimestampKind:
		return c.Timestamp(row).append(to, "")
	case TimestamptzKind:
		return c.Timestamptz(row).append(to, "Z")
	case IntervalKind:
		return c.Interval(row).append(to)
	case UUIDKind:
		return c.UUID(row).append(to)
	default:
		return append(to, c.Text(row)...)
	}
}

// appendFloat appends the fewest digits that read back as the same float, laid out as faucet's own files have it: an
// exponent only where there would be many zeros.
func appendFloat(to []byte, value float64, bits int) []byte {
	if math.IsNaN(value) {
		return append(to, "NaN"...)
	}
	if math.Signbit(value) {
		to, value = append(to, '-'), -value
	}
	if math.IsInf(value, 1) {
		return append(to, "Infinity"...)
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(value, 'e', -1, bits), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	power, _ := strconv.Atoi(exponent)
	most, least := 16, -5
	if bits == 32 {
		most, least = 13, -6
	}
	if point := power + 1; point > least && point <= most {
		return appendPlain(to, digits, point)
	}
	return strconv.AppendInt(append(append(to, mantissa...), 'e'), int64(power), 10)
}

// appendPlain appends digits with a point after so many of them.
func appendPlain(to []byte, digits string, point int) []byte {
	if point <= 0 {
		return append(append(append(to, "0."...), strings.Repeat("0", -point)...), digits...)
	}
	if point >= len(digits) {
		return append(append(append(to, digits...), strings.Repeat("0", point-len(digits))...), ".0"...)
	}
	return append(append(append(to, digits[:point]...), '.'), digits[point:]...)
}

// AppendJSON appends the value of a row as JSON; null where there is none. Numbers keep every digit.
func (c *Column) AppendJSON(to []byte, row int) []byte {
	if !c.Has(row) {
		return append(to, "null"...)
	}
	switch c.kind {
	case Boolean, Int64, Uint64:
		return c.AppendText(to, row)
	case Float32:
		return c.appendNumber(to, row, float64(c.Float32(row)))
	case Float64:
		return c.appendNumber(to, row, c.Float64(row))
	case Decimal:
		return appendDecimal(to, c.Text(row))
	case Text, Native:
		return AppendJSONText(to, c.Text(row))
	case JSON:
		return appendDocument(to, c.Text(row))
	default:
		return AppendJSONText(to, string(c.AppendText(nil, row)))
	}
}

func (c *Column) appendNumber(to []byte, row int, value float64) []byte {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return append(c.AppendText(append(to, '"'), row), '"')
	}
	return c.AppendText(to, row)
}

// appendDecimal spells a decimal as JSON wants it: a digit on both sides of the point, no leading zero and no plus sign.
// Digits and scale stay as they are.
func appendDecimal(to []byte, value string) []byte {
	digits := strings.TrimLeft(value, "+-")
	if strings.HasPrefix(digits, "N") || strings.HasPrefix(digits, "I") {
		return AppendJSONText(to, value)
	}
	if value[0] == '-' {
		to = append(to, '-')
	}
	end := strings.IndexFunc(digits+" ", func(c rune) bool { return c < '0' || c > '9' })
	whole, rest := strings.TrimLeft(digits[:end], "0"), digits[end:]
	if whole == "" {
		whole = "0"
	}
	if strings.HasPrefix(rest, ".") && (len(rest) == 1 || rest[1] < '0' || rest[1] > '9') {
		rest = rest[1:]
	}
	return append(append(to, whole...), rest...)
}

// appendDocument keeps a row on one line: a line break in a document can only stand between its tokens.
func appendDocument(to []byte, document string) []byte {
	return append(to, strings.NewReplacer("\n", " ", "\r", " ").Replace(document)...)
}

// AppendJSONText appends text as a JSON string, quotes included.
func AppendJSONText(to []byte, text string) []byte {
	to = append(to, '"')
	from := 0
	for i := range len(text) {
		if c := text[i]; c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		to = appendEscaped(append(to, text[from:i]...), text[i])
		from = i + 1
	}
	return append(append(to, text[from:]...), '"')
}

func appendEscaped(to []byte, c byte) []byte {
	if at := strings.IndexByte("\"\\\n\r\t\b\f", c); at >= 0 {
		return append(to, '\\', "\"\\nrtbf"[at])
	}
	return hex.AppendEncode(append(to, `\u00`...), []byte{c})
}

// AppendJSON appends a row as a JSON object on one line, without its absent values.
func (r Row) AppendJSON(to []byte) []byte {
	to = append(to, '{')
	between := ""
	for _, column := range r.page.Columns() {
		if column.IsAbsent(r.index) {
			continue
		}
		to = append(AppendJSONText(append(to, between...), column.name), ':')
		to = column.AppendJSON(to, r.index)
		between = ","
	}
	return append(to, '}')
}
