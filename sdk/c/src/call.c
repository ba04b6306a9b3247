/* One call of the host at a time: its memory, and why it failed. */
#include "internal.h"
#include <stdlib.h>

static arena call_memory;
static arena *memory;

/* The first failure of the call. */
static struct {
    bool is_set;
    uint8_t tag;
    const char *message;
    wire_list_problem_t problems;
} failure;

void call_begin(arena *of) {
    memory = of ? of : &call_memory;
    failure.is_set = false;
}

static void problems_free(void) {
    for (size_t i = 0; i < failure.problems.len; i++) wire_problem_free(&failure.problems.ptr[i]);
    free(failure.problems.ptr);
    failure.problems = (wire_list_problem_t){0};
}

bool call_end(bool returned, wire_error_t *error) {
    if (!returned && !failure.is_set) faucet_fail("the plugin failed and did not say why");
    if (failure.is_set && failure.tag == WIRE_ERROR_INVALID_CONFIG) {
        error->tag = failure.tag;
        error->val.invalid_config = failure.problems;
        failure.problems = (wire_list_problem_t){0};
    } else if (failure.is_set) {
        error->tag = failure.tag;
        error->val.failed = string_out(failure.message);
        problems_free();
    }
    builders_free();
    arena_free(&call_memory);
    memory = &call_memory;
    return !failure.is_set;
}

bool faucet_failed(void) { return failure.is_set; }

static bool fail(uint8_t tag, const char *format, va_list arguments) {
    if (failure.is_set) return false;
    failure.is_set = true;
    failure.tag = tag;
    failure.message = arena_print(&call_memory, format, arguments);
    return false;
}

bool faucet_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(WIRE_ERROR_FAILED, format, arguments);
    va_end(arguments);
    return false;
}

bool faucet_unavailable(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(WIRE_ERROR_UNAVAILABLE, format, arguments);
    va_end(arguments);
    return false;
}

bool faucet_unsupported(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail(WIRE_ERROR_UNSUPPORTED, format, arguments);
    va_end(arguments);
    return false;
}

bool faucet_bad_config(const char *path, const char *format, ...) {
    if (failure.is_set && failure.tag != WIRE_ERROR_INVALID_CONFIG) return false;
    va_list arguments;
    va_start(arguments, format);
    char *message = arena_print(&call_memory, format, arguments);
    va_end(arguments);
    failure.is_set = true;
    failure.tag = WIRE_ERROR_INVALID_CONFIG;
    size_t count = failure.problems.len;
    wire_problem_t *problems = realloc(failure.problems.ptr, (count + 1) * sizeof *problems);
    if (!problems) abort();
    problems[count] = (wire_problem_t){string_out(path), string_out(message)};
    failure.problems = (wire_list_problem_t){problems, count + 1};
    return false;
}

void *faucet_alloc(size_t size) { return arena_alloc(memory, size); }

char *faucet_print(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_print(memory, format, arguments);
    va_end(arguments);
    return text;
}

char *faucet_copy(faucet_text text) {
    char *copy = faucet_alloc(text.size + 1);
    memcpy(copy, text.at, text.size);
    return copy;
}

faucet_text faucet_text_of(const char *text) { return (faucet_text){text, strlen(text)}; }

bool faucet_text_is(faucet_text text, const char *other) {
    return text.size == strlen(other) && memcmp(text.at, other, text.size) == 0;
}

char *string_copy(const wire_string_t *string) {
    return faucet_copy((faucet_text){(const char *)string->ptr, string->len});
}

wire_string_t string_out(const char *text) {
    wire_string_t string;
    wire_string_dup(&string, text ? text : "");
    return string;
}
