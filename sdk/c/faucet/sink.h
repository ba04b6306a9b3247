/* A sink: rows go to it. */
#ifndef FAUCET_SINK_H
#define FAUCET_SINK_H
#include "about.h"
#include "json.h"
#include "page.h"
#include "text.h"

/* How rows meet those that are there. */
typedef enum faucet_write_mode {
    FAUCET_APPEND,    /* every row is added */
    FAUCET_UPSERT,    /* a row replaces the one with its key; rows marked as deletes remove it */
    FAUCET_OVERWRITE, /* the rows of this run replace everything, at once, at `finish` */
} faucet_write_mode;

/* What a sink can do under a given configuration. */
typedef struct faucet_sink_abilities {
    faucet_write_mode mode;             /* how this configuration writes */
    bool append, upsert, overwrite;     /* the modes that some configuration offers, besides `mode` */
    const char *const *key;             /* the configured key's columns, ended by NULL; NULL without one */
    const char *delete_marker;          /* the column whose values mark deletes; NULL without one */
    bool transactional;                 /* a commit makes all its rows visible at once or none */
    bool tokens;                        /* a commit stores a token with its rows, and `last_token` answers */
    bool evolves;                       /* it takes columns it has not seen before */
    bool rejects;                       /* `write` may reject single rows and take the others */
    bool parallel;                      /* several sessions may write at once */
} faucet_sink_abilities;

/* Rows that could not be written, for `write`. */
typedef struct faucet_rejects faucet_rejects;

/* A sink. What is NULL is left out, but for `open`, `write` and `commit`. After a failure the host opens another session
 * and writes again whatever was not committed: by then it must be gone, or be absorbed. */
typedef struct faucet_sink {
    faucet_about about;
    /* Checks a configuration, without any I/O, and says what it makes possible. */
    bool (*check)(faucet_json *config, faucet_sink_abilities *abilities);
    /* Opens the destination and puts into `state` what the others need. `pipeline` is a name to show there. */
    bool (*open)(faucet_json *config, const char *pipeline, void **state);
    /* The token of the last commit under `scope`, as the destination has it; NULL only if there was none. */
    bool (*last_token)(void *state, const char *scope, const char **token);
    /* Writes rows, whole pages or none. */
    bool (*write)(void *state, const faucet_page *pages, size_t count, faucet_rejects *rejects);
    /* Makes everything written durable, and with it the token; both are NULL if there is none. */
    bool (*commit)(void *state, const char *scope, const char *token);
    /* The source has ended: what had to wait for the end happens now, durably. */
    bool (*finish)(void *state);
    /* Gives back what `open` took, other than memory of faucet_alloc. */
    void (*close)(void *state);
} faucet_sink;

/* Gives a row back as one that can't be written, if the ability `rejects` is claimed. The reason must not hold a value
 * of the row. */
void faucet_reject_row(faucet_rejects *rejects, size_t page, size_t row, const char *format, ...) FAUCET_PRINTF(4, 5);
#endif
