/* Between the host's calls and the plugin's functions. */
#include "../faucet/sink.h"
#include "../src/about.h"
#include <stdlib.h>

extern const faucet_sink faucet_plugin;

struct exports_out_session_t {
    arena memory;
    void *state;
};

/* Rows that could not be written, by their number over all pages of the call. */
struct faucet_rejects {
    const faucet_page *pages;
    size_t count;
    bytes rows; /* of wire_reject_t */
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
static bool check(const wire_string_t *text, faucet_sink_abilities *abilities) {
    faucet_json *config = config_read(text);
    if (!config) return false;
    if (!faucet_plugin.check) return true;
    bool checked = faucet_plugin.check(config, abilities);
    if (checked) json_refuse_unknown(config);
    return checked;
}

static exports_out_list_write_mode_t modes_out(const faucet_sink_abilities *abilities) {
    bool offered[] = {abilities->append, abilities->upsert, abilities->overwrite};
    offered[abilities->mode] = true;
    exports_out_list_write_mode_t modes = {array_out(3, sizeof *modes.ptr), 0};
    for (uint8_t mode = FAUCET_APPEND; mode <= FAUCET_OVERWRITE; mode++)
        if (offered[mode]) modes.ptr[modes.len++] = mode;
    return modes;
}

static void abilities_out(const faucet_sink_abilities *abilities, exports_out_capabilities_t *out) {
    out->mode = (exports_out_write_mode_t)abilities->mode;
    out->modes = modes_out(abilities);
    out->key = list_out(abilities->key);
    out->delete_marker.is_some = abilities->delete_marker != NULL;
    if (abilities->delete_marker) out->delete_marker.val = string_out(abilities->delete_marker);
    out->transactional = abilities->transactional;
    out->tokens = abilities->tokens;
    out->evolves = abilities->evolves;
    out->rejects = abilities->rejects;
    out->parallel = abilities->parallel;
}

bool exports_out_check(wire_string_t *config, exports_out_capabilities_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    faucet_sink_abilities abilities = {0};
    bool checked = check(config, &abilities) && !faucet_failed();
    if (checked) abilities_out(&abilities, out);
    checked = call_end(checked, error);
    wire_string_free(config);
    return checked;
}

static bool open(exports_out_session_t *session, const wire_string_t *text, const wire_string_t *pipeline) {
    faucet_json *config = config_read(text);
    if (!config) return false;
    bool opened = faucet_plugin.open(config, string_copy(pipeline), &session->state);
    if (opened) json_refuse_unknown(config);
    return opened;
}

bool exports_out_open(wire_string_t *config, wire_string_t *pipeline, exports_out_own_session_t *out,
                      exports_out_error_t *error) {
    exports_out_session_t *session = calloc(1, sizeof *session);
    if (!session) abort();
    call_begin(&session->memory);
    bool opened = call_end(open(session, config, pipeline), error);
    wire_string_free(config);
    wire_string_free(pipeline);
    if (opened)
        *out = exports_out_session_new(session);
    else
        exports_out_session_destructor(session);
    return opened;
}

bool exports_out_method_session_last_token(exports_out_borrow_session_t self, wire_string_t *scope,
                                           wire_option_string_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    const char *token = NULL;
    bool known = faucet_plugin.last_token ? faucet_plugin.last_token(self->state, string_copy(scope), &token)
                                          : faucet_unsupported("this sink stores no tokens");
    known = known && !faucet_failed();
    out->is_some = known && token;
    if (out->is_some) out->val = string_out(token);
    wire_string_free(scope);
    return call_end(known, error);
}

void faucet_reject_row(faucet_rejects *rejects, size_t page, size_t row, const char *format, ...) {
    if (page >= rejects->count || row >= rejects->pages[page].rows) {
        faucet_fail("row %zu of page %zu was rejected, and there is none", row, page);
        return;
    }
    for (size_t before = 0; before < page; before++) row += rejects->pages[before].rows;
    arena memory = {0};
    va_list arguments;
    va_start(arguments, format);
    wire_reject_t reject = {(uint32_t)row, string_out(arena_print(&memory, format, arguments))};
    va_end(arguments);
    arena_free(&memory);
    memcpy(bytes_extend(&rejects->rows, sizeof reject), &reject, sizeof reject);
}

static bool write(exports_out_session_t *session, const exports_out_list_page_t *pages, faucet_rejects *rejects) {
    faucet_page *views = faucet_alloc((pages->len + 1) * sizeof *views);
    for (size_t i = 0; i < pages->len; i++) views[i] = page_view(&pages->ptr[i]);
    rejects->pages = views;
    rejects->count = pages->len;
    return faucet_plugin.write(session->state, views, pages->len, rejects);
}

bool exports_out_method_session_write(exports_out_borrow_session_t self, exports_out_list_page_t *pages,
                                      exports_out_list_reject_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    faucet_rejects rejects = {0};
    bool written = call_end(write(self, pages, &rejects), error);
    *out = (exports_out_list_reject_t){(void *)rejects.rows.at, rejects.rows.size / sizeof *out->ptr};
    if (!written) exports_out_list_reject_free(out);
    exports_out_list_page_free(pages);
    return written;
}

bool exports_out_method_session_commit(exports_out_borrow_session_t self, wire_tuple2_string_string_t *maybe_token,
                                       exports_out_error_t *error) {
    call_begin(NULL);
    const char *scope = maybe_token ? string_copy(&maybe_token->f0) : NULL;
    const char *token = maybe_token ? string_copy(&maybe_token->f1) : NULL;
    bool committed = call_end(faucet_plugin.commit(self->state, scope, token), error);
    if (maybe_token) wire_tuple2_string_string_free(maybe_token);
    return committed;
}

bool exports_out_method_session_finish(exports_out_borrow_session_t self, exports_out_error_t *error) {
    call_begin(NULL);
    return call_end(!faucet_plugin.finish || faucet_plugin.finish(self->state), error);
}

void exports_out_session_destructor(exports_out_session_t *session) {
    if (faucet_plugin.close && session->state) faucet_plugin.close(session->state);
    arena_free(&session->memory);
    free(session);
}
