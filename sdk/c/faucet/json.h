/* Configuration and other JSON, read into a tree.
 *
 * What is wrong with a configuration is reported with its path, all of it at once. Keys of an object that the plugin
 * never asked for are reported too, when `open` or `check` returns: a mistyped setting does not pass in silence. */
#ifndef FAUCET_JSON_H
#define FAUCET_JSON_H
#include "host.h"

/* What a JSON value is. */
typedef enum faucet_json_kind {
    FAUCET_JSON_NULL,
    FAUCET_JSON_FLAG,
    FAUCET_JSON_INTEGER,
    FAUCET_JSON_NUMBER,
    FAUCET_JSON_TEXT,
    FAUCET_JSON_LIST,
    FAUCET_JSON_OBJECT,
} faucet_json_kind;

/* A JSON value in its tree. */
typedef struct faucet_json {
    faucet_json_kind kind;
    const char *name;    /* its key in an object; NULL elsewhere */
    bool flag;           /* of a flag */
    int64_t integer;     /* of an integer, exact */
    double number;       /* of an integer or a number */
    const char *text;    /* of a text, ended by NUL */
    size_t size;         /* of a text, in bytes; of a list or an object, its items */
    /* For the functions below. */
    struct faucet_json *parent, *first, *next;
    const struct faucet_json_document *document;
    bool asked;
} faucet_json;

/* Reads a document; NULL if it is none, and then the call fails. `what` names it in messages ("bookmark"). */
faucet_json *faucet_json_read(const char *what, faucet_text text);

/* The value under a key of an object, or NULL. */
faucet_json *faucet_json_get(faucet_json *object, const char *name);

/* The first item of a list or object, or NULL; the item after another, or NULL. */
faucet_json *faucet_json_first(faucet_json *container);
faucet_json *faucet_json_next(faucet_json *item);

/* The value under a key of an object, or `otherwise` if there is none (or null). If it is of another kind, the call
 * fails. */
const char *faucet_json_text(faucet_json *object, const char *name, const char *otherwise);
bool faucet_json_flag(faucet_json *object, const char *name, bool otherwise);
int64_t faucet_json_integer(faucet_json *object, const char *name, int64_t otherwise);
double faucet_json_number(faucet_json *object, const char *name, double otherwise);

/* The texts of a list under a key, ended by NULL; `otherwise` if there is no list. */
const char *const *faucet_json_texts(faucet_json *object, const char *name, const char *const *otherwise);

/* Which of `choices` (ended by NULL) the text under a key is, by its index. */
int faucet_json_choice(faucet_json *object, const char *name, const char *const *choices, int otherwise);

/* Fails the call unless there is a value under the key. */
bool faucet_json_require(faucet_json *object, const char *name);

/* Fails the call with what is wrong with the value under a key of an object, at its path; NULL for the object. */
bool faucet_json_wrong(faucet_json *object, const char *name, const char *format, ...) FAUCET_PRINTF(3, 4);
#endif
