/* What the parts of the SDK share and plugins don't see. */
#ifndef FAUCET_INTERNAL_H
#define FAUCET_INTERNAL_H
#include "../faucet/builder.h"
#include "../faucet/json.h"
#include "wire.h"
#include <stdarg.h>

/* Memory that is given back all at once. */
typedef struct arena {
    struct arena_block *blocks;
} arena;

void *arena_alloc(arena *arena, size_t size);
char *arena_print(arena *arena, const char *format, va_list arguments);
void arena_free(arena *arena);

/* A call of the host: what faucet_alloc gives comes from `memory`, or from the call's own where that is NULL. */
void call_begin(arena *memory);

/* Ends it, frees what it took, and says whether it went well; if not, `error` says why. */
bool call_end(bool returned, wire_error_t *error);

/* A growing array of bytes that ends up in an answer, which frees it. */
typedef struct bytes {
    uint8_t *at;
    size_t size, room;
} bytes;

/* Makes room for `size` more bytes at the end and returns it. */
uint8_t *bytes_extend(bytes *bytes, size_t size);

/* A growing bitmap that takes no memory as long as every bit is the usual one. */
typedef struct bitmap {
    bytes bits;
    bool usual;
} bitmap;

/* Adds bit number `row`. */
void bitmap_push(bitmap *bitmap, size_t row, bool bit);

/* The bytes that `rows` bits take. */
static inline size_t bitmap_size(size_t rows) { return (rows + 7) / 8; }

struct faucet_builder {
    char *name;
    faucet_kind kind;
    const char *native;
    size_t rows;
    bitmap validity, absent, flags;
    bytes offsets, data;
    struct faucet_builder *next; /* of the builders of this call */
};

/* Frees the builders of a call. */
void builders_free(void);

/* Bytes a value of the kind takes; 0 for kinds with offsets and for booleans. */
size_t kind_width(faucet_kind kind);

/* Whether values of the kind are cut out of their data by offsets. */
bool kind_has_offsets(faucet_kind kind);

/* Moves the builder's buffers into a column on its way out. */
void builder_finish(faucet_builder *builder, wire_column_t *column);

/* The values of a builder at these rows, as a new one. */
faucet_builder *builder_gather(faucet_builder *builder, const uint32_t *rows, size_t count);

/* A column as it lies in the builder; it must not grow meanwhile. */
faucet_column builder_view(const faucet_builder *builder);

/* A page of the host as a plugin sees it. */
faucet_page page_view(const wire_page_t *page);

/* A host's string, copied and ended by NUL; NULL if there is none. */
char *string_copy(const wire_string_t *string);

/* A string for as long as a call of the host takes. */
static inline wire_string_t lend(const char *text) { return (wire_string_t){(uint8_t *)text, strlen(text)}; }

/* A string on its way out. NULL is empty. */
wire_string_t string_out(const char *text);

/* Reports the keys of a document that were never asked for. */
void json_refuse_unknown(const faucet_json *root);

/* Reads the configuration of a call; NULL if it is none, and then the call fails. */
faucet_json *config_read(const wire_string_t *config);
#endif
