/* Between the host's calls and the plugin's functions. */
#include "../src/about.h"
#include "output.h"
#include <stdlib.h>

extern const faucet_transform faucet_plugin;

struct exports_out_transform_t {
    arena memory;
    void *state;
};

void exports_out_describe(exports_out_description_t *out) {
    const faucet_about *about = &faucet_plugin.about;
    out->name = string_out(about->name);
    out->version = string_out(about->version);
    out->summary = string_out(about->summary);
    out->config_schema = string_out(about->config_schema);
    out->deterministic = faucet_plugin.deterministic;
    wants_out(&about->wants, &out->wants);
}

static bool open(exports_out_transform_t *transform, const wire_string_t *text) {
    faucet_json *config = config_read(text);
    if (!config) return false;
    bool opened = !faucet_plugin.open || faucet_plugin.open(config, &transform->state);
    if (opened && faucet_plugin.open) json_refuse_unknown(config);
    return opened;
}

bool exports_out_open(wire_string_t *config, exports_out_own_transform_t *out, exports_out_error_t *error) {
    exports_out_transform_t *transform = calloc(1, sizeof *transform);
    if (!transform) abort();
    call_begin(&transform->memory);
    bool opened = call_end(open(transform, config), error);
    wire_string_free(config);
    if (opened)
        *out = exports_out_transform_new(transform);
    else
        exports_out_transform_destructor(transform);
    return opened;
}

bool exports_out_method_transform_apply(exports_out_borrow_transform_t self, exports_out_page_t *page,
                                        exports_out_output_t *out, exports_out_error_t *error) {
    call_begin(NULL);
    faucet_page view = page_view(page);
    faucet_output output = {.page = &view, .end = &output.first};
    bool applied = faucet_plugin.apply(self->state, &view, &output) && !faucet_failed();
    if (applied) output_finish(&output, out);
    applied = call_end(applied, error);
    exports_out_page_free(page);
    return applied;
}

void exports_out_transform_destructor(exports_out_transform_t *transform) {
    if (faucet_plugin.close && transform->state) faucet_plugin.close(transform->state);
    arena_free(&transform->memory);
    free(transform);
}
