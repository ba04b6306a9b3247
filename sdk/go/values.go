package faucet

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
)

// Date is days since 1970-01-01. [math.MinInt32] and [math.MaxInt32] are minus and plus infinity.
type Date int32

// Time is microseconds since midnight, up to and including 24:00:00.
type Time int64

// Timestamp is microseconds since 1970-01-01 00:00:00: UTC for timestamptz, a clock without a zone for timestamp.
// [math.MinInt64] and [math.MaxInt64] are minus and plus infinity.
type Timestamp int64

// Interval is a span of time. Its parts are independent: a month is not 30 days.
type Interval struct {
	Microseconds int64
	Days, Months int32
}

// UUID is in the order it is written.
type UUID [16]byte

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86_400 * microsPerSecond
)

// TimestampOf is a time of package time, to the microsecond.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixMicro()) }

// IsFinite says whether it is neither infinity.
func (t Timestamp) IsFinite() bool { return t != math.MinInt64 && t != math.MaxInt64 }

// Time is the same in package time, in UTC. Infinities have no such form.
func (t Timestamp) Time() time.Time { return time.UnixMicro(int64(t)).UTC() }

// IsFinite says whether it is neither infinity.
func (d Date) IsFinite() bool { return d != math.MinInt32 && d != math.MaxInt32 }

// Time is the day's start in package time, in UTC. Infinities have no such form.
func (d Date) Time() time.Time { return time.Unix(int64(d)*86_400, 0).UTC() }

// String is the date in ISO 8601: 2024-01-31, 0044-03-15 BC, infinity, -infinity.
func (d Date) String() string { return string(d.append(nil)) }

// String is the time in ISO 8601: 23:59:59.5.
func (t Time) String() string { return string(t.append(nil)) }

// String is the time in ISO 8601 without a zone: 2024-01-31T23:59:59.5.
func (t Timestamp) String() string { return string(t.append(nil, "")) }

// String is the interval in ISO 8601, each part with its own sign: P1Y2M-3DT4H5M6.000007S.
func (i Interval) String() string { return string(i.append(nil)) }

// String is the UUID in its 8-4-4-4-12 form.
func (u UUID) String() string { return string(u.append(nil)) }

func (d Date) append(to []byte) []byte {
	if !d.IsFinite() {
		return appendInfinity(to, d < 0)
	}
	to, beforeChrist := appendCivil(to, int64(d))
	if beforeChrist {
		to = append(to, " BC"...)
	}
	return to
}

func (t Timestamp) append(to []byte, zone string) []byte {
	if !t.IsFinite() {
		return appendInfinity(to, t < 0)
	}
	days, rest := divideDown(int64(t), microsPerDay)
	to, beforeChrist := appendCivil(to, days)
	to = append(Time(rest).append(append(to, 'T')), zone...)
	if beforeChrist {
		to = append(to, " BC"...)
	}
	return to
}

func (t Time) append(to []byte) []byte {
	seconds := int64(t) / microsPerSecond
	to = append(appendPadded(to, seconds/3600, 2), ':')
	to = append(appendPadded(to, seconds/60%60, 2), ':')
	return appendFraction(appendPadded(to, seconds%60, 2), int64(t)%microsPerSecond)
}

func (i Interval) append(to []byte) []byte {
	start := len(to)
	to = append(to, 'P')
	to = appendPart(to, int64(i.Months/12), 'Y')
	to = appendPart(to, int64(i.Months%12), 'M')
	to = appendPart(to, int64(i.Days), 'D')
	if i.Microseconds != 0 {
		to = append(to, 'T')
		to = appendPart(to, i.Microseconds/(3600*microsPerSecond), 'H')
		to = appendPart(to, i.Microseconds/(60*microsPerSecond)%60, 'M')
		to = appendSeconds(to, i.Microseconds%(60*microsPerSecond))
	}
	if len(to) == start+1 {
		to = append(to, "T0S"...)
	}
	return to
}

func (u UUID) append(to []byte) []byte {
	for i, end := range [...]int{4, 6, 8, 10, 16} {
		start := [...]int{0, 4, 6, 8, 10}[i]
		if i > 0 {
			to = append(to, '-')
		}
		to = hex.AppendEncode(to, u[start:end])
	}
	return to
}

func appendInfinity(to []byte, negative bool) []byte {
	if negative {
		to = append(to, '-')
	}
	return append(to, "infinity"...)
}

func divideDown(value, by int64) (quotient, rest int64) {
	quotient, rest = value/by, value%by
	if rest < 0 {
		quotient, rest = quotient-1, rest+by
	}
	return quotient, rest
}

// appendCivil appends the date of a day since 1970-01-01 in the Gregorian calendar, and says whether it is before Christ.
// Package time does not span what databases hold. Counted in cycles of 400 years (146097 days) that start on the 1st of
// March, so that a leap day ends its year; year 0 is 1 BC.
func appendCivil(to []byte, days int64) ([]byte, bool) {
	cycle, day := divideDown(days+719_468, 146_097)
	year := (day - day/1460 + day/36_524 - day/146_096) / 365
	dayOfYear := day - (365*year + year/4 - year/100)
	fromMarch := (5*dayOfYear + 2) / 153
	dayOfMonth := dayOfYear - (153*fromMarch+2)/5 + 1
	month := fromMarch + 3
	if month > 12 {
		month -= 12
	}
	year += cycle * 400
	if month <= 2 {
		year++
	}
	shown := year
	if year <= 0 {
		shown = 1 - year
	}
	to = append(appendPadded(to, shown, 4), '-')
	to = append(appendPadded(to, month, 2), '-')
	return appendPadded(to, dayOfMonth, 2), year <= 0
}

func appendPadded(to []byte, value int64, width int) []byte {
	digits := strconv.FormatInt(value, 10)
	for range width - len(digits) {
		to = append(to, '0')
	}
	return append(to, digits...)
}

func appendFraction(to []byte, micros int64) []byte {
	if micros == 0 {
		return to
	}
	to = appendPadded(append(to, '.'), micros, 6)
	for to[len(to)-1] == '0' {
		to = to[:len(to)-1]
	}
	return to
}

func appendPart(to []byte, value int64, unit byte) []byte {
	if value == 0 {
		return to
	}
	return append(strconv.AppendInt(to, value, 10), unit)
}

func appendSeconds(to []byte, micros int64) []byte {
	if micros == 0 {
		return to
	}
	if micros < 0 {
		to, micros = append(to, '-'), -micros
	}
	to = strconv.AppendInt(to, micros/microsPerSecond, 10)
	return append(appendFraction(to, micros%microsPerSecond), 'S')
}
