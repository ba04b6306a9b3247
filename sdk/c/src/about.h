/* What a plugin says about itself, on its way out. */
#ifndef FAUCET_ABOUT_OUT_H
#define FAUCET_ABOUT_OUT_H
#include "../faucet/about.h"
#include "internal.h"

/* What the plugin asks for. */
void wants_out(const faucet_wants *wants, wire_wants_t *out);

/* Texts that end with NULL. */
wire_list_string_t list_out(const char *const *texts);

/* A zeroed array for an answer; NULL for none. */
void *array_out(size_t count, size_t size);
#endif
