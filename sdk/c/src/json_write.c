/* Values and rows as JSON. */
#include "values.h"

static void add_escaped(faucet_buffer *to, unsigned char c) {
    static const char FROM[] = "\"\\\n\r\t\b\f", INTO[] = "\"\\nrtbf";
    const char *known = memchr(FROM, c, sizeof FROM - 1);
    if (known)
        faucet_add_print(to, "\\%c", INTO[known - FROM]);
    else
        faucet_add_print(to, "\\u%04x", c);
}

static void add_string(faucet_buffer *to, const char *at, size_t size) {
    faucet_add_text(to, "\"");
    size_t from = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        faucet_add(to, at + from, i - from);
        add_escaped(to, c);
        from = i + 1;
    }
    faucet_add(to, at + from, size - from);
    faucet_add_text(to, "\"");
}

void faucet_add_json_text(faucet_buffer *to, faucet_text text) { add_string(to, text.at, text.size); }

/* JSON wants a digit on both sides of the point, no leading zero and no plus sign; digits and scale stay. */
static void add_decimal(faucet_buffer *to, faucet_text value) {
    const char *at = value.at, *end = value.at + value.size;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at < end && (*at == 'N' || *at == 'I')) return add_string(to, value.at, value.size);
    if (negative) faucet_add_text(to, "-");
    const char *whole = at;
    while (at < end && *at >= '0' && *at <= '9') at++;
    while (whole < at && *whole == '0') whole++;
    if (whole == at) faucet_add_text(to, "0");
    faucet_add(to, whole, (size_t)(at - whole));
    bool bare_point = at < end && *at == '.' && (at + 1 == end || at[1] < '0' || at[1] > '9');
    if (bare_point) at++;
    faucet_add(to, at, (size_t)(end - at));
}

/* A line break in a document can only stand between its tokens, and a row is one line. */
static void add_document(faucet_buffer *to, faucet_text document) {
    size_t start = to->size;
    faucet_add(to, document.at, document.size);
    for (char *at = to->at + start; at < to->at + to->size; at++)
        if (*at == '\n' || *at == '\r') *at = ' ';
}

static void add_quoted(faucet_buffer *to, const faucet_column *column, size_t row) {
    faucet_buffer text = {0};
    faucet_add_value(&text, column, row);
    add_string(to, text.at, text.size);
}

static void add_number(faucet_buffer *to, double value, bool is_single) {
    bool is_finite = value - value == 0;
    if (!is_finite) faucet_add_text(to, "\"");
    add_float(to, value, is_single);
    if (!is_finite) faucet_add_text(to, "\"");
}

void faucet_add_json_value(faucet_buffer *to, const faucet_column *column, size_t row) {
    if (!faucet_has(column, row)) return faucet_add_text(to, "null");
    switch (column->kind) {
    case FAUCET_BOOLEAN:
    case FAUCET_INT64:
    case FAUCET_UINT64: return faucet_add_value(to, column, row);
    case FAUCET_FLOAT32: return add_number(to, (double)faucet_float32_at(column, row), true);
    case FAUCET_FLOAT64: return add_number(to, faucet_float64_at(column, row), false);
    case FAUCET_DECIMAL: return add_decimal(to, faucet_text_at(column, row));
    case FAUCET_TEXT:
    case FAUCET_NATIVE: return faucet_add_json_text(to, faucet_text_at(column, row));
    case FAUCET_JSON: return add_document(to, faucet_text_at(column, row));
    case FAUCET_BYTES:
    case FAUCET_DATE:
    case FAUCET_TIME:
    case FAUCET_TIMESTAMP:
    case FAUCET_TIMESTAMPTZ:
    case FAUCET_INTERVAL:
    case FAUCET_UUID: return add_quoted(to, column, row);
    }
}

void faucet_add_json_row(faucet_buffer *to, const faucet_page *page, size_t row) {
    faucet_add_text(to, "{");
    const char *between = "";
    for (size_t i = 0; i < page->column_count; i++) {
        const faucet_column *column = &page->columns[i];
        if (faucet_is_absent(column, row)) continue;
        faucet_add_text(to, between);
        faucet_add_json_text(to, faucet_text_of(column->name));
        faucet_add_text(to, ":");
        faucet_add_json_value(to, column, row);
        between = ",";
    }
    faucet_add_text(to, "}");
}
