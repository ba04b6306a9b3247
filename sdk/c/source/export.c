/* Between the host's calls and the plugin's functions. */
#include "../src/about.h"
#include "batch.h"
#include <stdlib.h>

extern const faucet_source faucet_plugin;

struct exports_out_session_t {
    arena memory;
    void *state;
};

void exports_out_describe(exports_out_description_t *out) {
    const faucet_about *about = &faucet_plugin.about;
    out->name = string_out(about->name);
    out->version = string_out(about->version);
    out->summary = string_out(about->summary);
    out->config_schema = string_out(about->config_schema);
    wants_out(&about->wants, &out->wants);
}

/* Without a check of its own, a plugin's configuration is any object. */
static bool check(const wire_string_t *text, faucet_source_abilities *abilities) {
    faucet_json *config = config_read(text);
    if (!config) return false;
    if (!faucet_plugin.check) return true;
    bool checked = faucet_plugin.check(config, abilities);
    if (checked) json_refuse_unknown(config);
    return checked;
}

bool exports_out_check(wire_string_t *config, exports_out_capabilities_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    faucet_source_abilities abilities = {0};
    bool checked = call_end(check(config, &abilities), error);
    wire_string_free(config);
    *out = (exports_out_capabilities_t){abilities.changes, abilities.capture, abilities.replayable};
    return checked;
}

void faucet_add_table(faucet_tables *tables, const char *schema, const char *table, const char *const *key,
                      size_t key_count) {
    exports_out_discovered_t *added = (void *)bytes_extend(&tables->tables, sizeof *added);
    memset(added, 0, sizeof *added);
    added->table.schema.is_some = schema != NULL;
    if (schema) added->table.schema.val = string_out(schema);
    added->table.name = string_out(table);
    added->key = (wire_list_string_t){array_out(key_count, sizeof *added->key.ptr), key_count};
    for (size_t i = 0; i < key_count; i++) added->key.ptr[i] = string_out(key[i]);
}

bool exports_out_discover(wire_string_t *config, exports_out_list_discovered_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    faucet_tables tables = {0};
    faucet_json *root = config_read(config);
    bool found = root && (faucet_plugin.discover ? faucet_plugin.discover(root, &tables)
                                                 : faucet_unsupported("this source does not list its tables"));
    found = call_end(found, error);
    wire_string_free(config);
    *out = (exports_out_list_discovered_t){(void *)tables.tables.at, tables.tables.size / sizeof *out->ptr};
    if (!found) exports_out_list_discovered_free(out);
    return found;
}

bool exports_out_capture(wire_string_t *config, exports_out_bookmark_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    faucet_bookmark bookmark = {0};
    faucet_json *root = config_read(config);
    bool captured = root && (faucet_plugin.capture ? faucet_plugin.capture(root, &bookmark)
                                                   : faucet_unsupported("this source can't say where it stands"));
    if (captured) *out = (exports_out_bookmark_t){bytes_out(bookmark.position), bytes_out(bookmark.state)};
    bool ended = call_end(captured, error);
    wire_string_free(config);
    if (captured && !ended) exports_out_bookmark_free(out);
    return ended;
}

static faucet_bookmark bookmark_view(const exports_out_bookmark_t *bookmark) {
    faucet_bytes position = {bookmark->position.ptr, bookmark->position.len};
    return (faucet_bookmark){position, {bookmark->state.ptr, bookmark->state.len}};
}

static bool open(exports_out_session_t *session, const wire_string_t *text, const exports_out_bookmark_t *bookmark) {
    faucet_json *config = config_read(text);
    if (!config) return false;
    faucet_bookmark from = {0};
    if (bookmark) from = bookmark_view(bookmark);
    bool opened = faucet_plugin.open(config, bookmark ? &from : NULL, &session->state);
    if (opened) json_refuse_unknown(config);
    return opened;
}

bool exports_out_open(wire_string_t *config, exports_out_bookmark_t *maybe_bookmark, exports_out_own_session_t *out,
                      exports_out_error_t *error) {
    exports_out_session_t *session = calloc(1, sizeof *session);
    if (!session) abort();
    call_begin(&session->memory);
    bool opened = call_end(open(session, config, maybe_bookmark), error);
    wire_string_free(config);
    if (maybe_bookmark) exports_out_bookmark_free(maybe_bookmark);
    if (opened)
        *out = exports_out_session_new(session);
    else
        exports_out_session_destructor(session);
    return opened;
}

bool exports_out_method_session_read(exports_out_borrow_session_t self, uint32_t max_bytes,
                                     exports_out_option_batch_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    faucet_batch batch = {.end = &batch.first};
    bool read = faucet_plugin.read(self->state, max_bytes, &batch) && batch_check(&batch) && !faucet_failed();
    out->is_some = read && !batch.ended;
    if (out->is_some) batch_finish(&batch, &out->val);
    return call_end(read, error);
}

bool exports_out_method_session_confirm(exports_out_borrow_session_t self, exports_out_bookmark_t *bookmark,
                                        exports_out_error_t *error) {
    call_begin(NULL);
    faucet_bookmark view = bookmark_view(bookmark);
    bool confirmed = call_end(!faucet_plugin.confirm || faucet_plugin.confirm(self->state, &view), error);
    exports_out_bookmark_free(bookmark);
    return confirmed;
}

void exports_out_session_destructor(exports_out_session_t *session) {
    if (faucet_plugin.close && session->state) faucet_plugin.close(session->state);
    arena_free(&session->memory);
    free(session);
}
