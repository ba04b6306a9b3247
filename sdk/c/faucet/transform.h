/* A transform: changes rows between source and sink. */
#ifndef FAUCET_TRANSFORM_H
#define FAUCET_TRANSFORM_H
#include "about.h"
#include "builder.h"
#include "json.h"

/* What became of a page. A row in no page and not rejected was filtered out. */
typedef struct faucet_output faucet_output;

/* An output page. It starts as the input page; columns that are not set are passed through by the host and cost
 * nothing. */
typedef struct faucet_page_out faucet_page_out;

/* A transform. What is NULL is left out, but for `apply`. */
typedef struct faucet_transform {
    faucet_about about;
    /* Whether the same page always gives the same output. */
    bool deterministic;
    /* Checks the configuration and puts into `state` what `apply` needs. */
    bool (*open)(faucet_json *config, void **state);
    /* Transforms one page. State kept between calls must be a cache, never a result: a page may be tried again on a
     * fresh instance. To fail is to fail the page; for single rows there is faucet_reject. */
    bool (*apply)(void *state, const faucet_page *page, faucet_output *output);
    /* Gives back what `open` took, other than memory of faucet_alloc. */
    void (*close)(void *state);
} faucet_transform;

/* Adds an output page that passes everything through, to be changed from there. */
faucet_page_out *faucet_pass(faucet_output *output);

/* Takes a row of the input page out of every page and reports it as failed. The reason must not hold a value of it. */
void faucet_reject(faucet_output *output, size_t row, const char *format, ...) FAUCET_PRINTF(3, 4);

/* Puts a new column in place of the one with its name, or at the end if there is none. It needs one value for each row
 * of the input page, also if rows are filtered out; after faucet_select, one for each row selected there. */
bool faucet_set(faucet_page_out *page, faucet_builder *column);

/* Adds a column of the input page once more, under another name. */
bool faucet_add_copy(faucet_page_out *page, const char *of, const char *name);

/* Removes a column. */
bool faucet_remove(faucet_page_out *page, const char *name);

/* Gives a column another name. A key column stays a key column. */
bool faucet_rename(faucet_page_out *page, const char *from, const char *to);

/* Leaves a row of the input page out of this page. */
void faucet_drop(faucet_page_out *page, size_t row);

/* Makes the page of these rows of the input page. They must not fall; a row may repeat, except on a page that carries
 * __op. Once a page, before anything is dropped. */
bool faucet_select(faucet_page_out *page, const uint32_t *rows, size_t count);

/* Sends the page to another table; `schema` may be NULL. */
void faucet_set_table(faucet_page_out *page, const char *schema, const char *table);

/* Sets the key, by the names the columns have by now. Without this the input's key stays. */
void faucet_set_key(faucet_page_out *page, const char *const *names, size_t count);
#endif
