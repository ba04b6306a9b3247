/* Values and rows as text, spelled as faucet's own files and sinks spell them. */
#ifndef FAUCET_TEXT_H
#define FAUCET_TEXT_H
#include "page.h"

/* Bytes that grow, in memory that lives as long as what faucet_alloc gives. Start with {0}. */
typedef struct faucet_buffer {
    char *at;
    size_t size, room;
} faucet_buffer;

void faucet_add(faucet_buffer *buffer, const void *at, size_t size);
void faucet_add_text(faucet_buffer *buffer, const char *text);
void faucet_add_print(faucet_buffer *buffer, const char *format, ...) FAUCET_PRINTF(2, 3);

/* Appends a value as text (ISO 8601 for dates and times); nothing for null and absent. */
void faucet_add_value(faucet_buffer *buffer, const faucet_column *column, size_t row);

/* Appends text as a JSON string, quotes included. */
void faucet_add_json_text(faucet_buffer *buffer, faucet_text text);

/* Appends a value as JSON; null and absent are null. Numbers keep every digit. */
void faucet_add_json_value(faucet_buffer *buffer, const faucet_column *column, size_t row);

/* Appends a row as a JSON object on one line, without its absent values. */
void faucet_add_json_row(faucet_buffer *buffer, const faucet_page *page, size_t row);
#endif
