/* Pages: rows of one table, read by row or by column. Offsets and bitmaps stay in here. */
#ifndef FAUCET_PAGE_H
#define FAUCET_PAGE_H
#include "host.h"
#include <string.h>

/* What the values of a column are. */
typedef enum faucet_kind {
    FAUCET_BOOLEAN,
    FAUCET_INT64,
    FAUCET_UINT64,
    FAUCET_FLOAT32,
    FAUCET_FLOAT64,
    FAUCET_DECIMAL,     /* exact decimal text: -12.340, NaN, Infinity, -Infinity */
    FAUCET_TEXT,        /* UTF-8 */
    FAUCET_BYTES,
    FAUCET_DATE,        /* days since 1970-01-01; INT32_MIN and INT32_MAX are the infinities */
    FAUCET_TIME,        /* microseconds since midnight, 0 to 86400000000 */
    FAUCET_TIMESTAMP,   /* microseconds since 1970-01-01 without a zone; INT64_MIN and INT64_MAX are the infinities */
    FAUCET_TIMESTAMPTZ, /* the same in UTC */
    FAUCET_INTERVAL,
    FAUCET_UUID,
    FAUCET_JSON,        /* one document as exact text */
    FAUCET_NATIVE,      /* exact text of a type that faucet has no kind for */
} faucet_kind;

/* The name of a kind, for messages. */
const char *faucet_kind_name(faucet_kind kind);

/* A span of time; its parts are independent. */
typedef struct faucet_interval {
    int64_t microseconds;
    int32_t days;
    int32_t months;
} faucet_interval;

/* Bytes in the order they are written. */
typedef struct faucet_uuid {
    uint8_t bytes[16];
} faucet_uuid;

/* A column of a page. */
typedef struct faucet_column {
    const char *name;
    faucet_kind kind;
    const char *native; /* type in the source as system:type ("postgres:citext"); NULL if unknown */
    size_t rows;
    /* The buffers, for the functions below. */
    const uint8_t *validity, *absent, *data;
    const int32_t *offsets;
} faucet_column;

/* Rows of one table. */
typedef struct faucet_page {
    const char *schema; /* NULL where the source has none */
    const char *table;
    size_t rows;
    size_t column_count;
    const faucet_column *columns; /* in table order */
    size_t key_count;
    const char *const *key; /* names of the columns that identify a row, in key order */
} faucet_page;

/* The column of this name, or NULL. */
const faucet_column *faucet_find_column(const faucet_page *page, const char *name);

/* The column of this name; without one the call fails with a message that names the table, and this is NULL. */
const faucet_column *faucet_column_of(const faucet_page *page, const char *name);

/* Whether the column is part of the key. */
bool faucet_is_key(const faucet_page *page, const char *name);

/* What a row of a change-data source is. A destination that misses a delete keeps a row it should not have. */
typedef enum faucet_op {
    FAUCET_PLAIN = 0, /* the page is of plain rows: it has no column __op */
    FAUCET_CREATE = 'c',
    FAUCET_UPDATE = 'u', /* columns that were not sent are absent */
    FAUCET_DELETE = 'd', /* only the key has values */
    FAUCET_READ = 'r',
    FAUCET_TRUNCATE = 't', /* no column has a value */
} faucet_op;

/* What a row of this page is. */
faucet_op faucet_op_of(const faucet_page *page, size_t row);

/* Fails the call with a message that names both kinds, unless the column is of this kind. */
bool faucet_expect_kind(const faucet_column *column, faucet_kind kind);

static inline bool faucet_bit(const uint8_t *bits, size_t row) { return bits[row / 8] >> (row % 8) & 1; }

/* Whether there is a value: neither null nor absent. False beyond the last row. */
static inline bool faucet_has(const faucet_column *column, size_t row) {
    return row < column->rows && (!column->validity || faucet_bit(column->validity, row));
}

/* Whether the row says nothing about this column. */
static inline bool faucet_is_absent(const faucet_column *column, size_t row) {
    return row >= column->rows || (column->absent && faucet_bit(column->absent, row));
}

/* Whether the value is null. */
static inline bool faucet_is_null(const faucet_column *column, size_t row) {
    return !faucet_has(column, row) && !faucet_is_absent(column, row);
}

/* The value of a row: faucet_int64_at(column, row), and so on. 0 where there is none; of a column of another kind too,
 * and then the call fails. The plural, faucet_int64s(column), is all of them: one a row, anything where there is none;
 * NULL for a column of another kind, and then the call fails. */
#define FAUCET_VALUE(name, type, kind_)                                                                               \
    static inline type faucet_##name##_at(const faucet_column *column, size_t row) {                                  \
        type value;                                                                                                   \
        memset(&value, 0, sizeof value);                                                                              \
        if (faucet_expect_kind_fast(column, kind_) && faucet_has(column, row))                                        \
            memcpy(&value, column->data + row * sizeof value, sizeof value);                                          \
        return value;                                                                                                 \
    }                                                                                                                 \
    static inline const type *faucet_##name##s(const faucet_column *column) {                                         \
        return faucet_expect_kind_fast(column, kind_) ? (const type *)(const void *)column->data : NULL;              \
    }

static inline bool faucet_expect_kind_fast(const faucet_column *column, faucet_kind kind) {
    return column->kind == kind || faucet_expect_kind(column, kind);
}

FAUCET_VALUE(int64, int64_t, FAUCET_INT64)
FAUCET_VALUE(uint64, uint64_t, FAUCET_UINT64)
FAUCET_VALUE(float32, float, FAUCET_FLOAT32)
FAUCET_VALUE(float64, double, FAUCET_FLOAT64)
FAUCET_VALUE(date, int32_t, FAUCET_DATE)
FAUCET_VALUE(time, int64_t, FAUCET_TIME)
FAUCET_VALUE(timestamp, int64_t, FAUCET_TIMESTAMP)
FAUCET_VALUE(timestamptz, int64_t, FAUCET_TIMESTAMPTZ)
FAUCET_VALUE(interval, faucet_interval, FAUCET_INTERVAL)
FAUCET_VALUE(uuid, faucet_uuid, FAUCET_UUID)

static inline bool faucet_boolean_at(const faucet_column *column, size_t row) {
    return faucet_expect_kind_fast(column, FAUCET_BOOLEAN) && faucet_has(column, row) && faucet_bit(column->data, row);
}

/* The text of a text, decimal, json or native value; empty where there is none. It points into the page. */
static inline faucet_text faucet_text_at(const faucet_column *column, size_t row) {
    faucet_text none = {"", 0};
    bool is_text = column->kind == FAUCET_TEXT || column->kind == FAUCET_DECIMAL || column->kind == FAUCET_JSON ||
                   column->kind == FAUCET_NATIVE || faucet_expect_kind(column, FAUCET_TEXT);
    if (!is_text || !faucet_has(column, row)) return none;
    int32_t from = column->offsets[row], to = column->offsets[row + 1];
    return (faucet_text){(const char *)column->data + from, (size_t)(to - from)};
}

/* The bytes of a value of kind bytes; empty where there is none. They point into the page. */
static inline faucet_bytes faucet_bytes_at(const faucet_column *column, size_t row) {
    faucet_bytes none = {(const uint8_t *)"", 0};
    if (!faucet_expect_kind_fast(column, FAUCET_BYTES) || !faucet_has(column, row)) return none;
    int32_t from = column->offsets[row], to = column->offsets[row + 1];
    return (faucet_bytes){column->data + from, (size_t)(to - from)};
}
#endif
