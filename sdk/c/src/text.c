/* Values as text: ISO 8601 in PostgreSQL's spelling, the same for every kind of file and sink. */
#include "values.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t MICROS_PER_SECOND = 1000000, MICROS_PER_DAY = 86400000000;

static char *extend(faucet_buffer *buffer, size_t size) {
    if (buffer->room - buffer->size < size) {
        size_t room = buffer->room * 2 + size;
        char *at = faucet_alloc(room);
        if (buffer->size) memcpy(at, buffer->at, buffer->size);
        buffer->at = at;
        buffer->room = room;
    }
    buffer->size += size;
    return buffer->at + buffer->size - size;
}

void faucet_add(faucet_buffer *buffer, const void *at, size_t size) {
    if (size) memcpy(extend(buffer, size), at, size);
}

void faucet_add_text(faucet_buffer *buffer, const char *text) { faucet_add(buffer, text, strlen(text)); }

void faucet_add_print(faucet_buffer *buffer, const char *format, ...) {
    arena memory = {0};
    va_list arguments;
    va_start(arguments, format);
    faucet_add_text(buffer, arena_print(&memory, format, arguments));
    va_end(arguments);
    arena_free(&memory);
}

void add_hex(faucet_buffer *to, const uint8_t *bytes, size_t size) {
    static const char HEX[] = "0123456789abcdef";
    char *at = extend(to, size * 2);
    for (size_t i = 0; i < size; i++) {
        at[2 * i] = HEX[bytes[i] >> 4];
        at[2 * i + 1] = HEX[bytes[i] & 15];
    }
}

/* Digits of a float without their point, and where that belongs: after so many of them. */
typedef struct digits {
    char text[24];
    int count, point;
} digits;

/* The fewest digits that read back as the same float. All floats but the subnormal ones keep 6 or 15 digits, so that
 * the search can start there: what is too many of them are zeros at the end. */
static digits shortest(double value, bool is_single) {
    char text[40];
    bool is_normal = value >= (is_single ? (double)FLT_MIN : DBL_MIN);
    for (int more = !is_normal ? 0 : is_single ? 5 : 14; more <= 16; more++) {
        snprintf(text, sizeof text, "%.*e", more, value);
        if (is_single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) break;
    }
    const char *exponent = strchr(text, 'e');
    digits found = {.point = atoi(exponent + 1) + 1};
    for (const char *at = text; at < exponent; at++)
        if (*at != '.') found.text[found.count++] = *at;
    while (found.count > 1 && found.text[found.count - 1] == '0') found.count--;
    return found;
}

static void add_zeros(faucet_buffer *to, int count) {
    while (count-- > 0) faucet_add_text(to, "0");
}

/* Laid out as faucet's own files have it: an exponent only where there would be many zeros. */
void add_float(faucet_buffer *to, double value, bool is_single) {
    if (value != value) return faucet_add_text(to, "NaN");
    if (signbit(value)) faucet_add_text(to, "-");
    if (value - value != 0) return faucet_add_text(to, "Infinity");
    digits d = shortest(fabs(value), is_single);
    int most = is_single ? 13 : 16, least = is_single ? -6 : -5;
    if (d.point <= least || d.point > most) {
        faucet_add(to, d.text, 1);
        if (d.count > 1) faucet_add_text(to, ".");
        faucet_add(to, d.text + 1, (size_t)d.count - 1);
        return faucet_add_print(to, "e%d", d.point - 1);
    }
    int whole = d.point < d.count ? d.point : d.count;
    if (whole <= 0) faucet_add_text(to, "0.");
    add_zeros(to, -d.point);
    if (whole > 0) {
        faucet_add(to, d.text, (size_t)whole);
        add_zeros(to, d.point - whole);
        faucet_add_text(to, ".");
    }
    int rest = whole > 0 ? whole : 0;
    faucet_add(to, d.text + rest, (size_t)(d.count - rest));
    if (rest == d.count) faucet_add_text(to, "0");
}

static int64_t divide_down(int64_t value, int64_t by) { return value / by - (value % by < 0); }

/* The date of a day since 1970-01-01 in the Gregorian calendar, by cycles of 400 years (146097 days) that start on the
 * 1st of March, so that a leap day ends its year. Year 0 is 1 BC. Says whether it is before Christ. */
static bool add_civil(faucet_buffer *to, int64_t days) {
    int64_t shifted = days + 719468, cycle = divide_down(shifted, 146097), day = shifted - cycle * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t day_of_year = day - (365 * year + year / 4 - year / 100);
    int64_t from_march = (5 * day_of_year + 2) / 153;
    int64_t day_of_month = day_of_year - (153 * from_march + 2) / 5 + 1;
    int64_t month = from_march < 10 ? from_march + 3 : from_march - 9;
    year += cycle * 400 + (month <= 2);
    faucet_add_print(to, "%04lld-%02lld-%02lld", year <= 0 ? 1 - year : year, month, day_of_month);
    return year <= 0;
}

static void add_fraction(faucet_buffer *to, int64_t micros) {
    if (micros == 0) return;
    faucet_add_print(to, ".%06lld", micros);
    while (to->at[to->size - 1] == '0') to->size--;
}

static void add_date(faucet_buffer *to, int32_t days) {
    if (days == INT32_MIN || days == INT32_MAX) return faucet_add_text(to, days < 0 ? "-infinity" : "infinity");
    if (add_civil(to, days)) faucet_add_text(to, " BC");
}

static void add_time(faucet_buffer *to, int64_t micros) {
    int64_t seconds = micros / MICROS_PER_SECOND;
    faucet_add_print(to, "%02lld:%02lld:%02lld", seconds / 3600, seconds / 60 % 60, seconds % 60);
    add_fraction(to, micros % MICROS_PER_SECOND);
}

static void add_timestamp(faucet_buffer *to, int64_t micros, const char *zone) {
    if (micros == INT64_MIN || micros == INT64_MAX) return faucet_add_text(to, micros < 0 ? "-infinity" : "infinity");
    int64_t days = divide_down(micros, MICROS_PER_DAY);
    bool before_christ = add_civil(to, days);
    faucet_add_text(to, "T");
    add_time(to, micros - days * MICROS_PER_DAY);
    faucet_add_text(to, zone);
    if (before_christ) faucet_add_text(to, " BC");
}

static void add_part(faucet_buffer *to, int64_t value, char unit) {
    if (value) faucet_add_print(to, "%lld%c", value, unit);
}

/* The parts stay apart, and each has its own sign. */
static void add_interval(faucet_buffer *to, faucet_interval value) {
    size_t start = to->size;
    faucet_add_text(to, "P");
    add_part(to, value.months / 12, 'Y');
    add_part(to, value.months % 12, 'M');
    add_part(to, value.days, 'D');
    if (value.microseconds) faucet_add_text(to, "T");
    add_part(to, value.microseconds / 3600000000, 'H');
    add_part(to, value.microseconds / 60000000 % 60, 'M');
    int64_t rest = value.microseconds % 60000000;
    if (rest) {
        faucet_add_text(to, rest < 0 ? "-" : "");
        rest = rest < 0 ? -rest : rest;
        faucet_add_print(to, "%lld", rest / MICROS_PER_SECOND);
        add_fraction(to, rest % MICROS_PER_SECOND);
        faucet_add_text(to, "S");
    }
    if (to->size == start + 1) faucet_add_text(to, "T0S");
}

static void add_uuid(faucet_buffer *to, faucet_uuid value) {
    static const uint8_t STARTS[] = {0, 4, 6, 8, 10, 16};
    for (int i = 0; i < 5; i++) {
        if (i) faucet_add_text(to, "-");
        add_hex(to, value.bytes + STARTS[i], STARTS[i + 1] - STARTS[i]);
    }
}

static void add_bytes(faucet_buffer *to, faucet_bytes value) {
    faucet_add_text(to, "\\x");
    add_hex(to, value.at, value.size);
}

static void add_string(faucet_buffer *to, faucet_text value) { faucet_add(to, value.at, value.size); }

void faucet_add_value(faucet_buffer *to, const faucet_column *column, size_t row) {
    if (!faucet_has(column, row)) return;
    switch (column->kind) {
    case FAUCET_BOOLEAN: return faucet_add_text(to, faucet_boolean_at(column, row) ? "true" : "false");
    case FAUCET_INT64: return faucet_add_print(to, "%lld", (long long)faucet_int64_at(column, row));
    case FAUCET_UINT64: return faucet_add_print(to, "%llu", (unsigned long long)faucet_uint64_at(column, row));
    case FAUCET_FLOAT32: return add_float(to, (double)faucet_float32_at(column, row), true);
    case FAUCET_FLOAT64: return add_float(to, faucet_float64_at(column, row), false);
    case FAUCET_BYTES: return add_bytes(to, faucet_bytes_at(column, row));
    case FAUCET_DATE: return add_date(to, faucet_date_at(column, row));
    case FAUCET_TIME: return add_time(to, faucet_time_at(column, row));
    case FAUCET_TIMESTAMP: return add_timestamp(to, faucet_timestamp_at(column, row), "");
    case FAUCET_TIMESTAMPTZ: return add_timestamp(to, faucet_timestamptz_at(column, row), "Z");
    case FAUCET_INTERVAL: return add_interval(to, faucet_interval_at(column, row));
    case FAUCET_UUID: return add_uuid(to, faucet_uuid_at(column, row));
    case FAUCET_DECIMAL:
    case FAUCET_TEXT:
    case FAUCET_JSON:
    case FAUCET_NATIVE: return add_string(to, faucet_text_at(column, row));
    }
}
