/* New columns, value by value. */
#include "internal.h"
#include <stdlib.h>

static faucet_builder *builders;

static const char *const NAMES[] = {
    "boolean", "int64", "uint64",    "float32",     "float64",  "decimal", "text", "bytes",
    "date",    "time",  "timestamp", "timestamptz", "interval", "uuid",    "json", "native",
};

const char *faucet_kind_name(faucet_kind kind) { return NAMES[kind]; }

size_t kind_width(faucet_kind kind) {
    static const uint8_t WIDTHS[] = {0, 8, 8, 4, 8, 0, 0, 0, 4, 8, 8, 8, 16, 16, 0, 0};
    return WIDTHS[kind];
}

bool kind_has_offsets(faucet_kind kind) { return kind != FAUCET_BOOLEAN && kind_width(kind) == 0; }

static faucet_builder *build(const char *name, faucet_kind kind) {
    faucet_builder *builder = calloc(1, sizeof *builder);
    if (!builder) abort();
    builder->name = faucet_copy(faucet_text_of(name));
    builder->kind = kind;
    builder->validity.usual = true;
    builder->next = builders;
    builders = builder;
    return builder;
}

static void room(bytes *bytes, size_t size) {
    bytes_extend(bytes, size);
    bytes->size -= size;
}

/* Offsets start with a 0 before the first value. */
static faucet_builder *build_with_room(const char *name, faucet_kind kind, size_t rows, size_t size) {
    faucet_builder *builder = build(name, kind);
    if (kind_has_offsets(kind)) {
        room(&builder->offsets, (rows + 1) * 4);
        memset(bytes_extend(&builder->offsets, 4), 0, 4);
    }
    if (size) room(&builder->data, size);
    return builder;
}

faucet_builder *faucet_build(const char *name, faucet_kind kind) { return build_with_room(name, kind, 0, 0); }

static size_t data_size(const faucet_column *column) {
    if (kind_has_offsets(column->kind)) return (size_t)column->offsets[column->rows];
    return column->kind == FAUCET_BOOLEAN ? bitmap_size(column->rows) : column->rows * kind_width(column->kind);
}

faucet_builder *faucet_build_like(const faucet_column *column) {
    faucet_builder *builder = build_with_room(column->name, column->kind, column->rows, data_size(column));
    if (column->native) faucet_set_native(builder, column->native);
    return builder;
}

faucet_builder *faucet_build_text_like(const faucet_column *column) {
    return build_with_room(column->name, FAUCET_TEXT, column->rows, data_size(column));
}

void builders_free(void) {
    while (builders) {
        faucet_builder *next = builders->next;
        free(builders->validity.bits.at);
        free(builders->absent.bits.at);
        free(builders->flags.bits.at);
        free(builders->offsets.at);
        free(builders->data.at);
        free(builders);
        builders = next;
    }
}

void faucet_set_native(faucet_builder *builder, const char *native) {
    builder->native = faucet_copy(faucet_text_of(native));
}

size_t faucet_built(const faucet_builder *builder) { return builder->rows; }

static bool takes(const faucet_builder *builder, faucet_kind kind) {
    if (builder->kind == kind) return true;
    return faucet_fail("column '%s' is %s: it takes no value of kind %s", builder->name, NAMES[builder->kind],
                       NAMES[kind]);
}

static void end_value(faucet_builder *builder, bool has, bool absent) {
    if (kind_has_offsets(builder->kind)) {
        int32_t end = (int32_t)builder->data.size;
        if (builder->data.size > INT32_MAX) faucet_fail("column '%s' holds more than 2 GiB", builder->name);
        memcpy(bytes_extend(&builder->offsets, 4), &end, 4);
    }
    bitmap_push(&builder->validity, builder->rows, has);
    bitmap_push(&builder->absent, builder->rows, absent);
    builder->rows++;
}

static void push(faucet_builder *builder, faucet_kind kind, const void *value, size_t size) {
    if (!takes(builder, kind)) return;
    memcpy(bytes_extend(&builder->data, size), value, size);
    end_value(builder, true, false);
}

/* A row without a value has room all the same, filled with zeros. */
static void push_gap(faucet_builder *builder, bool absent) {
    size_t width = kind_width(builder->kind);
    if (builder->kind == FAUCET_BOOLEAN) bitmap_push(&builder->flags, builder->rows, false);
    if (width) memset(bytes_extend(&builder->data, width), 0, width);
    end_value(builder, false, absent);
}

void faucet_push_boolean(faucet_builder *builder, bool value) {
    if (!takes(builder, FAUCET_BOOLEAN)) return;
    bitmap_push(&builder->flags, builder->rows, value);
    end_value(builder, true, false);
}

void faucet_push_int64(faucet_builder *builder, int64_t value) { push(builder, FAUCET_INT64, &value, sizeof value); }
void faucet_push_uint64(faucet_builder *builder, uint64_t value) { push(builder, FAUCET_UINT64, &value, sizeof value); }
void faucet_push_float32(faucet_builder *builder, float value) { push(builder, FAUCET_FLOAT32, &value, sizeof value); }
void faucet_push_float64(faucet_builder *builder, double value) { push(builder, FAUCET_FLOAT64, &value, sizeof value); }
void faucet_push_date(faucet_builder *builder, int32_t days) { push(builder, FAUCET_DATE, &days, sizeof days); }
void faucet_push_time(faucet_builder *builder, int64_t value) { push(builder, FAUCET_TIME, &value, sizeof value); }
void faucet_push_uuid(faucet_builder *builder, faucet_uuid value) { push(builder, FAUCET_UUID, &value, sizeof value); }

void faucet_push_timestamp(faucet_builder *builder, int64_t value) {
    push(builder, FAUCET_TIMESTAMP, &value, sizeof value);
}

void faucet_push_timestamptz(faucet_builder *builder, int64_t value) {
    push(builder, FAUCET_TIMESTAMPTZ, &value, sizeof value);
}

void faucet_push_interval(faucet_builder *builder, faucet_interval value) {
    push(builder, FAUCET_INTERVAL, &value, sizeof value);
}

void faucet_push_bytes(faucet_builder *builder, const void *at, size_t size) { push(builder, FAUCET_BYTES, at, size); }

char *faucet_push_room(faucet_builder *builder, size_t size) {
    bool is_text = kind_has_offsets(builder->kind) && builder->kind != FAUCET_BYTES;
    if (!is_text) {
        takes(builder, FAUCET_TEXT);
        return faucet_alloc(size);
    }
    char *to = (char *)bytes_extend(&builder->data, size);
    end_value(builder, true, false);
    return to;
}

void faucet_push_text(faucet_builder *builder, const char *at, size_t size) {
    char *to = faucet_push_room(builder, size);
    if (size) memcpy(to, at, size);
}

void faucet_push_null(faucet_builder *builder) { push_gap(builder, false); }

void faucet_push_absent(faucet_builder *builder) { push_gap(builder, true); }

void faucet_push_from(faucet_builder *builder, const faucet_column *column, size_t row) {
    if (!faucet_has(column, row)) return push_gap(builder, faucet_is_absent(column, row));
    if (column->kind == FAUCET_BOOLEAN) return faucet_push_boolean(builder, faucet_boolean_at(column, row));
    size_t width = kind_width(column->kind);
    if (width) return push(builder, column->kind, column->data + row * width, width);
    size_t from = (size_t)column->offsets[row], to = (size_t)column->offsets[row + 1];
    push(builder, column->kind, column->data + from, to - from);
}

faucet_column builder_view(const faucet_builder *builder) {
    const bytes *data = builder->kind == FAUCET_BOOLEAN ? &builder->flags.bits : &builder->data;
    return (faucet_column){
        .name = builder->name,
        .kind = builder->kind,
        .native = builder->native,
        .rows = builder->rows,
        .validity = builder->validity.bits.at,
        .absent = builder->absent.bits.at,
        .data = data->at,
        .offsets = (const int32_t *)(const void *)builder->offsets.at,
    };
}

/* Booleans have their bitmap in full, even if no bit of it is set. */
static void complete_flags(faucet_builder *builder) {
    size_t missing = bitmap_size(builder->rows) - builder->flags.bits.size;
    if (builder->kind == FAUCET_BOOLEAN && missing) memset(bytes_extend(&builder->flags.bits, missing), 0, missing);
}

faucet_builder *builder_gather(faucet_builder *builder, const uint32_t *rows, size_t count) {
    complete_flags(builder);
    faucet_column from = builder_view(builder);
    faucet_builder *to = faucet_build_like(&from);
    for (size_t i = 0; i < count; i++) faucet_push_from(to, &from, rows[i]);
    return to;
}

/* An empty buffer is freed here: the bindings only free what has a length. */
static wire_list_u8_t take(bytes *bytes) {
    wire_list_u8_t list = {bytes->at, bytes->size};
    if (!list.len) free(list.ptr);
    *bytes = (struct bytes){0};
    return list.len ? list : (wire_list_u8_t){0};
}

void builder_finish(faucet_builder *builder, wire_column_t *column) {
    complete_flags(builder);
    column->name = string_out(builder->name);
    column->kind = (wire_kind_t)builder->kind;
    column->native.is_some = builder->native != NULL;
    if (builder->native) column->native.val = string_out(builder->native);
    column->validity = take(&builder->validity.bits);
    column->absent = take(&builder->absent.bits);
    column->offsets = take(&builder->offsets);
    column->data = take(builder->kind == FAUCET_BOOLEAN ? &builder->flags.bits : &builder->data);
}
