/* What the host offers: log, metrics, secrets. */
#include "internal.h"

void faucet_log(faucet_level level, const char *format, ...) {
    arena memory = {0};
    va_list arguments;
    va_start(arguments, format);
    wire_string_t message = lend(arena_print(&memory, format, arguments));
    va_end(arguments);
    host_log((host_level_t)level, &message);
    arena_free(&memory);
}

void faucet_count(const char *metric, uint32_t by) {
    wire_string_t name = lend(metric);
    host_count(&name, by);
}

void faucet_gauge(const char *metric, double value) {
    wire_string_t name = lend(metric);
    host_gauge(&name, value);
}

const faucet_text *faucet_secrets(size_t *count) {
    wire_list_string_t names;
    host_secrets(&names);
    faucet_text *texts = faucet_alloc(names.len * sizeof *texts);
    for (size_t i = 0; i < names.len; i++) {
        texts[i] = faucet_text_of(string_copy(&names.ptr[i]));
    }
    *count = names.len;
    wire_list_string_free(&names);
    return texts;
}
