/* JSON text into a tree (RFC 8259). */
#include "json_tree.h"
#include <stdlib.h>

enum { DEEPEST = 128 };

typedef struct reader {
    const char *at, *end;
    const json_document *document;
    int depth;
} reader;

static void skip_space(reader *r) {
    while (r->at < r->end && memchr(" \t\r\n", *r->at, 4)) r->at++;
}

/* Whether this comes next, and goes past it. */
static bool accept(reader *r, char c) {
    skip_space(r);
    if (r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool accept_word(reader *r, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) return false;
    r->at += size;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits of \uXXXX; -1 if they are none. */
static int32_t read_unit(reader *r) {
    if (r->end - r->at < 4) return -1;
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*r->at++);
        if (digit < 0) return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

/* A code point from one \uXXXX, or two that make a pair of surrogates; -1 if it is none. */
static int32_t read_code_point(reader *r) {
    int32_t unit = read_unit(r);
    if (unit < 0xd800 || unit > 0xdfff) return unit;
    if (unit > 0xdbff || !accept_word(r, "\\u")) return -1;
    int32_t low = read_unit(r);
    return low < 0xdc00 || low > 0xdfff ? -1 : 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

static char *write_utf8(char *to, int32_t c) {
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t LEADS[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(LEADS[more] | c >> (6 * more));
    while (more-- > 0) *to++ = (char)(0x80 | (c >> (6 * more) & 0x3f));
    return to;
}

/* What follows a backslash. NULL if nothing may. */
static char *read_escape(reader *r, char *to) {
    if (r->at >= r->end) return NULL;
    char c = *r->at++;
    if (c == 'u') {
        int32_t point = read_code_point(r);
        return point < 0 ? NULL : write_utf8(to, point);
    }
    static const char FROM[] = "\"\\/bfnrt", INTO[] = "\"\\/\b\f\n\r\t";
    const char *known = memchr(FROM, c, sizeof FROM - 1);
    if (!known) return NULL;
    *to++ = INTO[known - FROM];
    return to;
}

/* A string after its opening quote. What it says is never longer than how it is written. */
static const char *read_string(reader *r, size_t *size) {
    const char *close = r->at;
    while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= r->end) return NULL;
    char *text = faucet_alloc((size_t)(close - r->at) + 1), *to = text;
    while (*r->at != '"') {
        char c = *r->at++;
        if ((unsigned char)c < 0x20) return NULL;
        if (c != '\\')
            *to++ = c;
        else if (!(to = read_escape(r, to)))
            return NULL;
    }
    r->at++;
    *size = (size_t)(to - text);
    return text;
}

static size_t digits(reader *r) {
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
    return (size_t)(r->at - from);
}

static bool is_at(const reader *r, const char *any) { return r->at < r->end && strchr(any, *r->at) && *r->at; }

/* Goes past a number; 0 if there is none, 1 if it is written as an integer, 2 otherwise. */
static int scan_number(reader *r) {
    int sort = 1;
    if (is_at(r, "-")) r->at++;
    bool zero = is_at(r, "0");
    size_t whole = digits(r);
    if (whole == 0 || (zero && whole > 1)) return 0;
    if (is_at(r, ".")) {
        r->at++;
        if (digits(r) == 0) return 0;
        sort = 2;
    }
    if (is_at(r, "eE")) {
        r->at++;
        if (is_at(r, "+-")) r->at++;
        if (digits(r) == 0) return 0;
        sort = 2;
    }
    return sort;
}

/* The integer that is written so; false if it does not fit. */
static bool parse_integer(const char *text, int64_t *value) {
    bool negative = *text == '-';
    uint64_t sum = 0, most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    for (text += negative; *text; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (sum > (most - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

static bool read_number(reader *r, faucet_json *value) {
    const char *from = r->at;
    int sort = scan_number(r);
    if (!sort) return false;
    const char *text = faucet_copy((faucet_text){from, (size_t)(r->at - from)});
    value->kind = sort == 1 && parse_integer(text, &value->integer) ? FAUCET_JSON_INTEGER : FAUCET_JSON_NUMBER;
    value->number = value->kind == FAUCET_JSON_INTEGER ? (double)value->integer : strtod(text, NULL);
    return true;
}

static bool read_value(reader *r, faucet_json *value);

/* One item of a list or object, without what stands between items. */
static bool read_item(reader *r, faucet_json *container, faucet_json *item) {
    *item = (faucet_json){.parent = container, .document = r->document};
    size_t size;
    if (container->kind == FAUCET_JSON_OBJECT) {
        if (!accept(r, '"') || !(item->name = read_string(r, &size)) || !accept(r, ':')) return false;
    }
    return read_value(r, item);
}

static bool read_items(reader *r, faucet_json *container, char close) {
    faucet_json **end = &container->first;
    if (++r->depth > DEEPEST) return false;
    if (!accept(r, close)) {
        do {
            *end = faucet_alloc(sizeof **end);
            if (!read_item(r, container, *end)) return false;
            container->size++;
            end = &(*end)->next;
        } while (accept(r, ','));
        if (!accept(r, close)) return false;
    }
    r->depth--;
    return true;
}

static bool read_value(reader *r, faucet_json *value) {
    skip_space(r);
    if (accept(r, '{')) {
        value->kind = FAUCET_JSON_OBJECT;
        return read_items(r, value, '}');
    }
    if (accept(r, '[')) {
        value->kind = FAUCET_JSON_LIST;
        return read_items(r, value, ']');
    }
    if (accept(r, '"')) {
        value->kind = FAUCET_JSON_TEXT;
        return (value->text = read_string(r, &value->size)) != NULL;
    }
    value->flag = accept_word(r, "true");
    if (value->flag || accept_word(r, "false")) {
        value->kind = FAUCET_JSON_FLAG;
        return true;
    }
    return accept_word(r, "null") || read_number(r, value);
}

faucet_json *json_read(const json_document *document, faucet_text text) {
    reader r = {text.at, text.at + text.size, document, 0};
    faucet_json *root = faucet_alloc(sizeof *root);
    *root = (faucet_json){.document = document};
    bool is_json = read_value(&r, root);
    skip_space(&r);
    return is_json && r.at == r.end ? root : NULL;
}
