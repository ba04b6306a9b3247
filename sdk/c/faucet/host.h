/* Failing, memory, and what the host offers: log, metrics, secrets. */
#ifndef FAUCET_HOST_H
#define FAUCET_HOST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lets the compiler check the arguments of a format. */
#define FAUCET_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))

/* Text that is not ended by NUL and may hold some. */
typedef struct faucet_text {
    const char *at;
    size_t size;
} faucet_text;

/* Bytes. */
typedef struct faucet_bytes {
    const uint8_t *at;
    size_t size;
} faucet_bytes;

/* Text from a C string. */
faucet_text faucet_text_of(const char *text);

/* Whether the text reads exactly so. */
bool faucet_text_is(faucet_text text, const char *other);

/* The functions below fail the call that the host is making; the message is one sentence for a person, and must not
 * hold a cell value or a secret. They return false, to be returned in turn. Only the first failure of a call counts. */

/* Trying again would not help. */
bool faucet_fail(const char *format, ...) FAUCET_PRINTF(1, 2);

/* The other end can't answer now: the host tries again later, on a fresh instance. */
bool faucet_unavailable(const char *format, ...) FAUCET_PRINTF(1, 2);

/* The plugin does not offer this. */
bool faucet_unsupported(const char *format, ...) FAUCET_PRINTF(1, 2);

/* The configuration can't be used. `path` is dotted from its start ("columns.email.method"), "" for all of it. Several
 * of these in one call are all reported, so that a user can mend them at once. */
bool faucet_bad_config(const char *path, const char *format, ...) FAUCET_PRINTF(2, 3);

/* Whether anything failed during this call. */
bool faucet_failed(void);

/* Zeroed memory that lives until the call is over; in `open`, until `close`. Never NULL. */
void *faucet_alloc(size_t size);

/* Formatted text in such memory. */
char *faucet_print(const char *format, ...) FAUCET_PRINTF(1, 2);

/* A copy in such memory, ended by NUL. */
char *faucet_copy(faucet_text text);

/* How important a message is. */
typedef enum faucet_level { FAUCET_DEBUG, FAUCET_INFO, FAUCET_WARN, FAUCET_ERROR } faucet_level;

/* Writes a line to the host's log, under the plugin's name. Never log a cell value or a secret. */
void faucet_log(faucet_level level, const char *format, ...) FAUCET_PRINTF(2, 3);

/* Adds to a counter of the plugin. Names are [a-z0-9_]+, at most 64 of counters and gauges. */
void faucet_count(const char *metric, uint32_t by);

/* Sets a gauge of the plugin. */
void faucet_gauge(const char *metric, double value);

/* Names of the secrets the plugin may use, and in `count` how many. Where a header or the path of an HTTP request
 * contains ${secret:NAME}, the host puts the value there; the plugin never sees it. */
const faucet_text *faucet_secrets(size_t *count);
#endif
