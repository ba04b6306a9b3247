// Echo gives every page back as it came: by value through the row view and the builders, or passed through.
package main

import (
	"faucet"
	"faucet/transform"
)

type config struct {
	Mode string `json:"mode" enum:"values,pass" default:"values"`
}

type echo struct{ config }

func (e *echo) Apply(page *faucet.Page) (*transform.Output, error) {
	out := transform.Pass(page)
	if e.Mode == "pass" {
		return transform.Only(out), nil
	}
	builders := make([]*faucet.Builder, 0)
	for _, column := range page.Columns() {
		builders = append(builders, faucet.NewBuilder(column.Name(), column.Kind()).WithNative(column.Native()))
	}
	for _, row := range page.Rows() {
		for _, builder := range builders {
			push(builder, row)
		}
	}
	for _, builder := range builders {
		out.Set(builder)
	}
	return transform.Only(out), nil
}

func push(to *faucet.Builder, row faucet.Row) {
	switch name := to.Name(); {
	case row.IsAbsent(name):
		to.PushAbsent()
	case row.IsNull(name):
		to.PushNull()
	default:
		pushValue(to, row, name)
	}
}

func pushValue(to *faucet.Builder, row faucet.Row, name string) {
	switch to.Kind() {
	case faucet.Boolean:
		to.PushBoolean(row.Boolean(name))
	case faucet.Int64:
		to.PushInt64(row.Int64(name))
	case faucet.Uint64:
		to.PushUint64(row.Uint64(name))
	case faucet.Float32:
		to.PushFloat32(row.Float32(name))
	case faucet.Float64:
		to.PushFloat64(row.Float64(name))
	case faucet.Bytes:
		to.PushBytes(row.Bytes(name))
	case faucet.DateKind:
		to.PushDate(row.Date(name))
	case faucet.TimeKind:
		to.PushTime(row.Time(name))
	case faucet.TimestampKind:
		to.PushTimestamp(row.Timestamp(name))
	case faucet.TimestamptzKind:
		to.PushTimestamptz(row.Timestamptz(name))
	case faucet.IntervalKind:
		to.PushInterval(row.Interval(name))
	case faucet.UUIDKind:
		to.PushUUID(row.UUID(name))
	default:
		to.PushText(row.Text(name))
	}
}

func init() {
	about := faucet.About{Name: "echo", Version: "0.1.0", Summary: "Gives every page back as it came"}
	transform.Register(about, func(c config) (transform.Transform, error) { return &echo{c}, nil })
}

func main() {}
