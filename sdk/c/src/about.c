/* What a plugin says about itself, on its way out. */
#include "about.h"
#include <stdlib.h>

void *array_out(size_t count, size_t size) {
    void *array = count ? calloc(count, size) : NULL;
    if (count && !array) abort();
    return array;
}

static size_t count_of(const char *const *texts) {
    size_t count = 0;
    while (texts && texts[count]) count++;
    return count;
}

wire_list_string_t list_out(const char *const *texts) {
    size_t count = count_of(texts);
    wire_list_string_t list = {array_out(count, sizeof *list.ptr), count};
    for (size_t i = 0; i < count; i++) list.ptr[i] = string_out(texts[i]);
    return list;
}

void wants_out(const faucet_wants *wants, wire_wants_t *out) {
    size_t read = count_of(wants->read), write = count_of(wants->write);
    out->http = list_out(wants->http);
    out->dirs = (wire_list_wanted_dir_t){array_out(read + write, sizeof *out->dirs.ptr), read + write};
    for (size_t i = 0; i < read; i++) out->dirs.ptr[i] = (wire_wanted_dir_t){string_out(wants->read[i]), false};
    for (size_t i = 0; i < write; i++) out->dirs.ptr[read + i] = (wire_wanted_dir_t){string_out(wants->write[i]), true};
    out->env = list_out(wants->env);
    out->secrets = list_out(wants->secrets);
    out->clock = wants->clock;
    out->random = wants->random;
}
