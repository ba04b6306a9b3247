/* A source: rows come from it. */
#ifndef FAUCET_SOURCE_H
#define FAUCET_SOURCE_H
#include "about.h"
#include "builder.h"
#include "json.h"

/* A place to resume from. */
typedef struct faucet_bookmark {
    /* Where it stands: bytes whose order (memcmp) is the order of the stream; empty if this source has none. */
    faucet_bytes position;
    /* All that the source needs to resume. */
    faucet_bytes state;
} faucet_bookmark;

/* What a source can do under a given configuration. */
typedef struct faucet_source_abilities {
    bool changes;    /* its pages say what each change did: faucet_add_change */
    bool capture;    /* `capture` and `discover` answer */
    bool replayable; /* every commit has a bookmark, and a session opened at it continues identically */
} faucet_source_abilities;

/* The tables of a source, for `discover`. */
typedef struct faucet_tables faucet_tables;

/* Pages and what follows them, for `read`. */
typedef struct faucet_batch faucet_batch;

/* A page on its way out of a source. */
typedef struct faucet_source_page faucet_source_page;

/* A source. What is NULL is left out, but for `open` and `read`. */
typedef struct faucet_source {
    faucet_about about;
    /* Checks a configuration, without any I/O, and says what it makes possible. */
    bool (*check)(faucet_json *config, faucet_source_abilities *abilities);
    /* Lists the tables there are: faucet_add_table. */
    bool (*discover)(faucet_json *config, faucet_tables *tables);
    /* Where the source stands now: what changes after this is in a session opened at the bookmark. */
    bool (*capture)(faucet_json *config, faucet_bookmark *bookmark);
    /* Opens a session at a bookmark, or at the beginning (NULL), and puts into `state` what `read` needs. */
    bool (*open)(faucet_json *config, const faucet_bookmark *bookmark, void **state);
    /* Puts the next rows, about `max_bytes`, into the batch. */
    bool (*read)(void *state, uint32_t max_bytes, faucet_batch *batch);
    /* Everything up to the bookmark is durable. Calls may be left out. */
    bool (*confirm)(void *state, const faucet_bookmark *bookmark);
    /* Gives back what `open` took, other than memory of faucet_alloc. */
    void (*close)(void *state);
} faucet_source;

/* Adds a table; `schema` may be NULL, `key` has the names of the key's columns in key order. */
void faucet_add_table(faucet_tables *tables, const char *schema, const char *table, const char *const *key,
                      size_t key_count);

/* Adds an empty page. */
faucet_source_page *faucet_add_page(faucet_batch *batch, const char *schema, const char *table);

/* Adds a column, to be filled by pushing one value a row. */
faucet_builder *faucet_add_column(faucet_source_page *page, const char *name, faucet_kind kind);

/* Makes a column the next one of the key. */
void faucet_add_key(faucet_source_page *page, const char *column);

/* Says what the next row did; for sources of changes, once a row. Positions are bytes whose order is the order of the
 * stream, of one width on a page; `committed_at` is in microseconds since 1970-01-01 UTC. For a deleted row, push its
 * key to the before-image, and absent to the columns. */
void faucet_add_change(faucet_source_page *page, faucet_op op, faucet_bytes position, int64_t committed_at);

/* The before-image of a column of the page: push one value a row, absent where the before-image does not say it. */
faucet_builder *faucet_add_before(faucet_source_page *page, const char *column);

/* A transaction ends here: a session opened at the bookmark continues exactly after this batch. Without one of the
 * next two, the transaction goes on and nothing may be committed yet. */
void faucet_commit(faucet_batch *batch, faucet_bookmark bookmark);

/* A transaction ends here, at no place to resume from. */
void faucet_commit_without_bookmark(faucet_batch *batch);

/* There is nothing more for this long: the host waits before it reads again. */
void faucet_wait(faucet_batch *batch, uint32_t milliseconds);

/* The source has ended. Not together with pages: they come before, in a batch of their own. */
void faucet_end(faucet_batch *batch);
#endif
