/* NAME: writes rows as JSON lines into the folder /out.
 *
 * Rows go to a file that nobody reads yet. A commit gives it its name, so that its rows appear at once or not at all; a
 * session that starts removes what an earlier one left without a commit. */
#include "faucet.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static const char OPEN_FILE[] = "/out/.NAME.open";
enum { WRITE_SIZE = 64 * 1024 };

typedef struct sink {
    const char *prefix;
    int file; /* -1 while there are no rows to commit */
    unsigned next; /* number of the next file */
} sink;

static bool failed(const char *doing, const char *path) {
    return faucet_fail("can't %s '%s': %s", doing, path, strerror(errno));
}

static const char *prefix_of(faucet_json *config) {
    const char *prefix = faucet_json_text(config, "prefix", "rows");
    if (!*prefix || strchr(prefix, '/')) faucet_json_wrong(config, "prefix", "must be the start of a file name");
    return prefix;
}

static bool check(faucet_json *config, faucet_sink_abilities *abilities) {
    prefix_of(config);
    abilities->mode = FAUCET_APPEND;
    abilities->transactional = true;
    abilities->evolves = true;
    return true;
}

static const char *committed_name(const sink *s, unsigned number) {
    return faucet_print("/out/%s-%06u.jsonl", s->prefix, number);
}

static bool open_sink(faucet_json *config, const char *pipeline, void **state) {
    (void)pipeline;
    sink *s = faucet_alloc(sizeof *s);
    s->prefix = prefix_of(config);
    s->file = -1;
    *state = s;
    while (access(committed_name(s, s->next), F_OK) == 0) s->next++;
    return unlink(OPEN_FILE) == 0 || errno == ENOENT || failed("remove", OPEN_FILE);
}

static bool write_all(sink *s, faucet_buffer *lines) {
    if (s->file < 0 && lines->size) s->file = open(OPEN_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (s->file < 0 && lines->size) return failed("open", OPEN_FILE);
    for (size_t at = 0; at < lines->size;) {
        ssize_t written = write(s->file, lines->at + at, lines->size - at);
        if (written < 0) return failed("write to", OPEN_FILE);
        at += (size_t)written;
    }
    lines->size = 0;
    return true;
}

static void add_line(faucet_buffer *lines, const faucet_page *page, size_t row) {
    faucet_add_text(lines, "{\"table\":");
    const char *table = page->schema ? faucet_print("%s.%s", page->schema, page->table) : page->table;
    faucet_add_json_text(lines, faucet_text_of(table));
    faucet_add_text(lines, ",\"row\":");
    faucet_add_json_row(lines, page, row);
    faucet_add_text(lines, "}\n");
}

static bool write_pages(void *state, const faucet_page *pages, size_t count, faucet_rejects *rejects) {
    (void)rejects;
    faucet_buffer lines = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t row = 0; row < pages[i].rows; row++) {
            add_line(&lines, &pages[i], row);
            if (lines.size >= WRITE_SIZE && !write_all(state, &lines)) return false;
        }
    }
    return write_all(state, &lines);
}

static bool commit(void *state, const char *scope, const char *token) {
    (void)scope, (void)token;
    sink *s = state;
    if (s->file < 0) return true;
    if (fsync(s->file) != 0) return failed("sync", OPEN_FILE);
    close(s->file);
    s->file = -1;
    const char *name = committed_name(s, s->next++);
    return rename(OPEN_FILE, name) == 0 || failed("rename to", name);
}

static void close_sink(void *state) {
    const sink *s = state;
    if (s->file >= 0) close(s->file);
}

static const char SCHEMA[] =
    "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": {"
    "\"prefix\": {\"type\": \"string\", \"default\": \"rows\","
    " \"description\": \"How the names of the files start.\"}}}";

static const char *const FOLDERS[] = {"/out", NULL};

const faucet_sink faucet_plugin = {
    .about =
        {
            .name = "NAME",
            .version = "0.1.0",
            .summary = "Writes rows as JSON lines into a folder",
            .config_schema = SCHEMA,
            .wants = {.write = FOLDERS},
        },
    .check = check,
    .open = open_sink,
    .write = write_pages,
    .commit = commit,
    .close = close_sink,
};
