/* New columns, value by value. */
#ifndef FAUCET_BUILDER_H
#define FAUCET_BUILDER_H
#include "page.h"

/* A new column in the making. Give it one value for each row. */
typedef struct faucet_builder faucet_builder;

/* An empty column. */
faucet_builder *faucet_build(const char *name, faucet_kind kind);

/* An empty column with the name, kind and native type of another, and room for as many values. */
faucet_builder *faucet_build_like(const faucet_column *column);

/* An empty text column with the name of another, and room for as many values. */
faucet_builder *faucet_build_text_like(const faucet_column *column);

/* Names the type in the source as system:type. A column of kind native needs it. */
void faucet_set_native(faucet_builder *builder, const char *native);

/* Number of values so far. */
size_t faucet_built(const faucet_builder *builder);

/* Adds a value. If the column is of another kind, the call fails. */
void faucet_push_boolean(faucet_builder *builder, bool value);
void faucet_push_int64(faucet_builder *builder, int64_t value);
void faucet_push_uint64(faucet_builder *builder, uint64_t value);
void faucet_push_float32(faucet_builder *builder, float value);
void faucet_push_float64(faucet_builder *builder, double value);
void faucet_push_date(faucet_builder *builder, int32_t days);
void faucet_push_time(faucet_builder *builder, int64_t microseconds);
void faucet_push_timestamp(faucet_builder *builder, int64_t microseconds);
void faucet_push_timestamptz(faucet_builder *builder, int64_t microseconds);
void faucet_push_interval(faucet_builder *builder, faucet_interval value);
void faucet_push_uuid(faucet_builder *builder, faucet_uuid value);
void faucet_push_bytes(faucet_builder *builder, const void *at, size_t size);

/* Adds UTF-8: a text, decimal, json or native value, as the column's kind says. */
void faucet_push_text(faucet_builder *builder, const char *at, size_t size);

/* The same, for the caller to write `size` bytes at what is returned before it pushes again. Never NULL. */
char *faucet_push_room(faucet_builder *builder, size_t size);

/* Adds a null. */
void faucet_push_null(faucet_builder *builder);

/* Adds an absent value. */
void faucet_push_absent(faucet_builder *builder);

/* Adds what a row of a column has: its value, null or absent. The column must be of the same kind, unless there is no
 * value. */
void faucet_push_from(faucet_builder *builder, const faucet_column *column, size_t row);
#endif
