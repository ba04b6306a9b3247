/* What the two ways to write values share. */
#ifndef FAUCET_VALUES_H
#define FAUCET_VALUES_H
#include "../faucet/text.h"
#include "internal.h"

/* Appends a float: the shortest digits that read back as the same one. */
void add_float(faucet_buffer *to, double value, bool is_single);

/* Appends two hex digits a byte. */
void add_hex(faucet_buffer *to, const uint8_t *bytes, size_t size);
#endif
