/* NAME: hides the values of text columns. */
#include "faucet.h"
#include "sha256.h"

enum { REDACT, HASH };
enum { FAIL, IGNORE };
static const char *const METHODS[] = {"redact", "hash", NULL};
static const char *const MISSING[] = {"error", "ignore", NULL};

typedef struct mask {
    const char *const *columns; /* ended by NULL */
    int method, on_missing;
    const char *text; /* what to write, for redact */
    sha256 salted;    /* a digest that has read the salt, for hash */
} mask;

static bool open(faucet_json *config, void **state) {
    mask *m = faucet_alloc(sizeof *m);
    m->columns = faucet_json_texts(config, "columns", NULL);
    m->method = faucet_json_choice(config, "method", METHODS, REDACT);
    m->on_missing = faucet_json_choice(config, "on_missing", MISSING, FAIL);
    m->text = faucet_json_text(config, "text", NULL);
    const char *salt = faucet_json_text(config, "salt", NULL);
    faucet_json_require(config, "columns");
    if (m->columns && !m->columns[0]) faucet_json_wrong(config, "columns", "names no column");
    if (m->text && m->method != REDACT) faucet_json_wrong(config, "text", "belongs to method redact");
    if (salt && m->method != HASH) faucet_json_wrong(config, "salt", "belongs to method hash");
    if (!m->text) m->text = "***";
    sha256_start(&m->salted);
    if (salt) sha256_add(&m->salted, salt, strlen(salt));
    *state = m;
    return true;
}

/* Only text can be masked. Redacting makes distinct values equal, so rows would overwrite each other by their key. */
static bool check(const mask *m, const faucet_page *page, const faucet_column *column) {
    if (column->kind != FAUCET_TEXT && column->kind != FAUCET_NATIVE)
        return faucet_fail("column '%s' is %s: only text can be masked; cast it to text before", column->name,
                           faucet_kind_name(column->kind));
    if (m->method != HASH && faucet_is_key(page, column->name))
        return faucet_fail("column '%s' is part of the key of table '%s', and this method makes distinct keys equal; "
                           "use method hash for it",
                           column->name, page->table);
    return true;
}

static void write_hash(const mask *m, faucet_text value, faucet_builder *to) {
    sha256 digest = m->salted;
    sha256_add(&digest, value.at, value.size);
    sha256_hex(&digest, faucet_push_room(to, 64));
}

static faucet_builder *masked(const mask *m, const faucet_column *column) {
    faucet_builder *to = faucet_build_text_like(column);
    size_t size = strlen(m->text);
    for (size_t row = 0; row < column->rows; row++) {
        if (!faucet_has(column, row))
            faucet_push_from(to, column, row);
        else if (m->method == HASH)
            write_hash(m, faucet_text_at(column, row), to);
        else
            faucet_push_text(to, m->text, size);
    }
    return to;
}

static bool apply(void *state, const faucet_page *page, faucet_output *output) {
    const mask *m = state;
    faucet_page_out *out = faucet_pass(output);
    for (const char *const *name = m->columns; *name; name++) {
        const faucet_column *column =
            m->on_missing == IGNORE ? faucet_find_column(page, *name) : faucet_column_of(page, *name);
        if (!column) continue;
        if (!check(m, page, column)) return false;
        faucet_set(out, masked(m, column));
    }
    return true;
}

static const char SCHEMA[] =
    "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"columns\"], \"properties\": {"
    "\"columns\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 1,"
    " \"description\": \"Names of text columns.\"},"
    "\"method\": {\"enum\": [\"redact\", \"hash\"], \"default\": \"redact\","
    " \"description\": \"redact writes a fixed text; hash writes SHA-256 of salt and value, as 64 hex digits.\"},"
    "\"text\": {\"type\": \"string\", \"default\": \"***\", \"description\": \"For redact: what to write.\"},"
    "\"salt\": {\"type\": \"string\", \"description\": \"For hash: text put before the value.\"},"
    "\"on_missing\": {\"enum\": [\"error\", \"ignore\"], \"default\": \"error\","
    " \"description\": \"What to do if a table has no such column.\"}}}";

const faucet_transform faucet_plugin = {
    .about =
        {
            .name = "NAME",
            .version = "0.1.0",
            .summary = "Hides the values of text columns",
            .config_schema = SCHEMA,
        },
    .deterministic = true,
    .open = open,
    .apply = apply,
};
