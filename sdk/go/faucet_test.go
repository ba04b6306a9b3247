package faucet

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestFloatsAreWrittenShortAndReadBack(t *testing.T) {
	for want, value := range map[string]float64{
		"0.0": 0, "-0.0": math.Copysign(0, -1), "0.1": 0.1, "-1.5": -1.5, "1000000000000000.0": 1e15, "1e16": 1e16,
		"1.2345678901234568e17": 123456789012345680, "0.00001": 1e-5, "1e-6": 1e-6, "5e-324": 5e-324,
		"1.7976931348623157e308": math.MaxFloat64, "9007199254740992.0": 1 << 53, "NaN": math.NaN(),
		"Infinity": math.Inf(1), "-Infinity": math.Inf(-1),
	} {
		if got := string(appendFloat(nil, value, 64)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := string(appendFloat(nil, float64(float32(16777216)), 32)); got != "16777216.0" {
		t.Error(got)
	}
}

func TestDatesAndTimesSpanTheWholeRange(t *testing.T) {
	for want, value := range map[string]fmt.Stringer{
		"1970-01-01": Date(0), "1969-12-31": Date(-1), "2000-02-29": Date(11016), "0001-01-01": Date(-719162),
		"0001-12-31 BC": Date(-719163), "10000-01-01": Date(2932897), "5874897-12-31": Date(2145042905),
		"infinity": Date(math.MaxInt32), "-infinity": Timestamp(math.MinInt64), "24:00:00": Time(86_400_000_000),
		"1969-12-31T23:59:59.999999": Timestamp(-1), "0001-12-31T23:59:59.999999 BC": Timestamp(-62_135_596_800_000_001),
		"PT0S": Interval{}, "P1M-2DT3H4M5.000006S": Interval{11_045_000_006, -2, 1}, "P-1Y-2MT-0.5S": Interval{-500_000, 0, -14},
		"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11": UUID{0xa0, 0xee, 0xbc, 0x99, 0x9c, 0x0b, 0x4e, 0xf8, 0xbb, 0x6d, 0x6b, 0xb9, 0xbd, 0x38, 0x0a, 0x11},
	} {
		if got := value.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestDecimalsBecomeNumbersOfJSON(t *testing.T) {
	for value, want := range map[string]string{
		"1.50": "1.50", "+.5": "0.5", "-007.10": "-7.10", "5.": "5", "1e-16383": "1e-16383", "0": "0", "-.5E2": "-0.5E2",
		"NaN": `"NaN"`, "-Infinity": `"-Infinity"`,
	} {
		if got := string(appendDecimal(nil, value)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTextIsEscapedForJSON(t *testing.T) {
	if got := string(AppendJSONText(nil, "a\"\\\n\x00\u2028é")); got != "\"a\\\"\\\\\\n\\u0000\u2028é\"" {
		t.Error(got)
	}
}

func TestABitmapIsEmptyUntilAnUnusualBitComes(t *testing.T) {
	for _, usual := range []bool{true, false} {
		for first := range 20 {
			b := bitmap{usual: usual}
			for row := range 20 {
				b.push(row, (row == first) != usual)
			}
			if len(b.bits) != 3 {
				t.Fatalf("%d bytes", len(b.bits))
			}
			for row := range 20 {
				if bit(b.bits, row) != ((row == first) != usual) {
					t.Errorf("usual %t, first %d: bit %d is wrong", usual, first, row)
				}
			}
		}
	}
}

func TestEverythingWrongWithAConfigurationIsSaidAtOnce(t *testing.T) {
	type rule struct {
		Method string `json:"method" enum:"hash,redact" default:"redact"`
		Keep   *uint8 `json:"keep"`
	}
	type config struct {
		Columns map[string]rule `json:"columns" doc:"Rules by column."`
		Names   []string        `json:"names"`
		Ratio   float64         `json:"ratio" default:"0.5"`
		On      bool            `json:"on,omitempty"`
	}
	var good config
	err := ReadConfig(`{"columns": {"a": {}, "b": {"method": "hash", "keep": 7}}, "names": ["x"]}`, &good)
	if err != nil || good.Columns["a"].Method != "redact" || *good.Columns["b"].Keep != 7 || good.Ratio != 0.5 {
		t.Errorf("%v %+v", err, good)
	}
	err = ReadConfig(`{"columns": {"a": {"method": "hsh", "keep": 300}, "b": 1}, "names": [1, null], "ratio": "x", "onn": 1}`, &config{})
	want := []string{
		"columns.a.method: must be one of hash, redact", "columns.a.keep: must be an integer of at least 0 that fits, not a number",
		"columns.b: must be an object, not a number", "names[0]: must be a text, not a number", "names[1]: must be a text, not null",
		"ratio: must be a number, not a text", "onn: is not a setting of this plugin",
	}
	if got := err.Error(); got != strings.Join(want, "; ") {
		t.Error(got)
	}
	for _, text := range []string{"", "{", "{} {}", "nul"} {
		if err := ReadConfig(text, &config{}); err == nil || err.Error() != "is not JSON" {
			t.Errorf("%q: %v", text, err)
		}
	}
	wantSchema := `{"$schema":"https://json-schema.org/draft/2020-12/schema","additionalProperties":false,"properties":` +
		`{"columns":{"additionalProperties":{"additionalProperties":false,"properties":{"keep":{"minimum":0,"type":"integer"},` +
		`"method":{"default":"redact","enum":["hash","redact"],"type":"string"}},"type":"object"},"description":"Rules by column.",` +
		`"type":"object"},"names":{"items":{"type":"string"},"type":"array"},"on":{"type":"boolean"},"ratio":{"default":0.5,` +
		`"type":"number"}},"required":["columns","names"],"type":"object"}`
	if got := SchemaOf[config](); got != wantSchema {
		t.Error(got)
	}
}

func TestABuilderRefusesAnotherKind(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); said != "column 'n' is int64: it takes no value of kind text" {
			t.Error(said)
		}
	}()
	NewBuilder("n", Int64).PushText("x")
}

func TestValuesAreGathered(t *testing.T) {
	b := NewBuilder("t", Text)
	b.PushText("a")
	b.PushNull()
	b.PushAbsent()
	b.PushText("")
	c := b.Gather([]uint32{0, 2, 2, 3}).Column()
	if c.Len() != 4 || c.Text(0) != "a" || !c.IsAbsent(1) || !c.IsAbsent(2) || !c.Has(3) || c.Text(3) != "" {
		t.Errorf("%+v", c)
	}
}

func TestStatusOfAnAnswer(t *testing.T) {
	for status, later := range map[int]bool{404: false, 301: false, 408: true, 429: true, 503: true} {
		err := (&Response{Status: status}).OK()
		if err == nil || errors.Is(err, ErrUnavailable) != later {
			t.Errorf("%d: %v", status, err)
		}
	}
	if err := (&Response{Status: 204}).OK(); err != nil {
		t.Error(err)
	}
	var rows struct{ Last int64 }
	if err := (&Response{Body: []byte(`{"last": 9007199254740993}`)}).JSON(&rows); err != nil || rows.Last != 9007199254740993 {
		t.Error(rows, err)
	}
	if err := (&Response{Body: []byte(`{"last": "secret"}`)}).JSON(&rows); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
