/* NAME: counts from one number to another. */
#include "faucet.h"

typedef struct counter {
    int64_t next, end;
    int64_t page_rows;
} counter;

/* Says everything that is wrong with the configuration. */
static counter read_config(faucet_json *config) {
    counter c = {
        .next = faucet_json_integer(config, "start", 0),
        .end = faucet_json_integer(config, "end", 0),
        .page_rows = faucet_json_integer(config, "page_rows", 1000),
    };
    faucet_json_require(config, "end");
    if (c.next < 0) faucet_json_wrong(config, "start", "must be at least 0");
    if (c.page_rows < 1) faucet_json_wrong(config, "page_rows", "must be at least 1");
    return c;
}

static bool check(faucet_json *config, faucet_source_abilities *abilities) {
    read_config(config);
    abilities->capture = true;
    abilities->replayable = true;
    return true;
}

static bool discover(faucet_json *config, faucet_tables *tables) {
    (void)config;
    const char *key[] = {"n"};
    faucet_add_table(tables, NULL, "numbers", key, 1);
    return true;
}

/* The position's bytes sort like the numbers do. */
static faucet_bookmark bookmark_at(int64_t next) {
    uint8_t *position = faucet_alloc(8);
    for (int i = 0; i < 8; i++) position[i] = (uint8_t)((uint64_t)next >> (56 - 8 * i));
    char *state = faucet_print("{\"next\":%lld}", (long long)next);
    return (faucet_bookmark){{position, 8}, {(uint8_t *)state, strlen(state)}};
}

static bool capture(faucet_json *config, faucet_bookmark *bookmark) {
    *bookmark = bookmark_at(read_config(config).next);
    return true;
}

static bool open(faucet_json *config, const faucet_bookmark *bookmark, void **state) {
    counter *c = faucet_alloc(sizeof *c);
    *c = read_config(config);
    *state = c;
    if (!bookmark) return true;
    faucet_text text = {(const char *)bookmark->state.at, bookmark->state.size};
    faucet_json *saved = faucet_json_read("bookmark", text);
    if (!saved || !faucet_json_require(saved, "next")) return false;
    c->next = faucet_json_integer(saved, "next", 0);
    return true;
}

static bool read(void *state, uint32_t max_bytes, faucet_batch *batch) {
    counter *c = state;
    if (c->next >= c->end) {
        faucet_end(batch);
        return true;
    }
    faucet_source_page *page = faucet_add_page(batch, NULL, "numbers");
    faucet_builder *numbers = faucet_add_column(page, "n", FAUCET_INT64);
    faucet_add_key(page, "n");
    int64_t fits = max_bytes / sizeof(int64_t) + 1, rows = c->page_rows < fits ? c->page_rows : fits;
    for (; rows > 0 && c->next < c->end; rows--) faucet_push_int64(numbers, c->next++);
    faucet_commit(batch, bookmark_at(c->next));
    return true;
}

static const char SCHEMA[] =
    "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"end\"], \"properties\": {"
    "\"start\": {\"type\": \"integer\", \"minimum\": 0, \"default\": 0, \"description\": \"The first number.\"},"
    "\"end\": {\"type\": \"integer\", \"description\": \"The number after the last one.\"},"
    "\"page_rows\": {\"type\": \"integer\", \"minimum\": 1, \"default\": 1000,"
    " \"description\": \"Most rows of a page.\"}}}";

const faucet_source faucet_plugin = {
    .about = {.name = "NAME", .version = "0.1.0", .summary = "Counts", .config_schema = SCHEMA},
    .check = check,
    .discover = discover,
    .capture = capture,
    .open = open,
    .read = read,
};
