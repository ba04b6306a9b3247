/* What the reader of JSON and those who look at its trees share. */
#ifndef FAUCET_JSON_TREE_H
#define FAUCET_JSON_TREE_H
#include "internal.h"

/* What a tree was read from. */
typedef struct faucet_json_document {
    const char *what; /* NULL for a configuration, whose problems have paths of their own */
} json_document;

/* The tree of a text; NULL if it is not JSON. */
faucet_json *json_read(const json_document *document, faucet_text text);
#endif
