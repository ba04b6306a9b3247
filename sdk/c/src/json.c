/* Looking at JSON: values by name, and what is wrong with them. */
#include "json_tree.h"

static const char *const KINDS[] = {"null", "true or false", "an integer", "a number", "a text", "a list", "an object"};

static faucet_json *read_document(const char *what, faucet_text text) {
    json_document *document = faucet_alloc(sizeof *document);
    document->what = what;
    return json_read(document, text);
}

faucet_json *faucet_json_read(const char *what, faucet_text text) {
    faucet_json *root = read_document(what, text);
    if (!root) faucet_fail("the %s is not JSON", what);
    return root;
}

faucet_json *config_read(const wire_string_t *config) {
    faucet_json *root = read_document(NULL, (faucet_text){(const char *)config->ptr, config->len});
    if (!root) {
        faucet_bad_config("", "is not JSON");
    } else if (root->kind != FAUCET_JSON_OBJECT) {
        faucet_bad_config("", "must be an object, not %s", KINDS[root->kind]);
        root = NULL;
    }
    return root;
}

static size_t index_of(const faucet_json *item) {
    size_t index = 0;
    for (const faucet_json *at = item->parent->first; at != item; at = at->next) index++;
    return index;
}

static const char *path_of(const faucet_json *value) {
    if (!value || !value->parent) return "";
    const char *parent = path_of(value->parent);
    if (!value->name) return faucet_print("%s[%zu]", parent, index_of(value));
    return *parent ? faucet_print("%s.%s", parent, value->name) : value->name;
}

static bool wrong(const faucet_json *object, const char *path, const char *message) {
    if (!object->document->what) return faucet_bad_config(path, "%s", message);
    return faucet_fail("%s: %s: %s", object->document->what, path, message);
}

static const char *path_under(const faucet_json *object, const char *name) {
    const char *parent = path_of(object);
    if (!name) return parent;
    return *parent ? faucet_print("%s.%s", parent, name) : name;
}

bool faucet_json_wrong(faucet_json *object, const char *name, const char *format, ...) {
    arena memory = {0};
    va_list arguments;
    va_start(arguments, format);
    wrong(object, path_under(object, name), arena_print(&memory, format, arguments));
    va_end(arguments);
    arena_free(&memory);
    return false;
}

static void is_another_kind(const faucet_json *value, faucet_json_kind needed) {
    wrong(value, path_of(value), faucet_print("must be %s, not %s", KINDS[needed], KINDS[value->kind]));
}

faucet_json *faucet_json_get(faucet_json *object, const char *name) {
    if (object->kind != FAUCET_JSON_OBJECT) is_another_kind(object, FAUCET_JSON_OBJECT);
    faucet_json *found = NULL;
    // Of a key that stands there twice, the last counts, as everywhere else.
    for (faucet_json *item = object->first; item; item = item->next) {
        if (!item->name || strcmp(item->name, name) != 0) continue;
        item->asked = true;
        found = item;
    }
    return found;
}

static faucet_json *asked(faucet_json *item) {
    if (item) item->asked = true;
    return item;
}

faucet_json *faucet_json_first(faucet_json *container) { return asked(container->first); }

faucet_json *faucet_json_next(faucet_json *item) { return asked(item->next); }

/* The value under a key if it is of a kind; NULL if there is none or it is null, or after saying what is wrong. */
static faucet_json *get_kind(faucet_json *object, const char *name, faucet_json_kind kind) {
    faucet_json *value = faucet_json_get(object, name);
    if (!value || value->kind == FAUCET_JSON_NULL) return NULL;
    if (value->kind == kind) return value;
    is_another_kind(value, kind);
    return NULL;
}

/* A text that holds NUL would be cut where C code reads it. */
static bool is_whole(const faucet_json *value) {
    return strlen(value->text) == value->size || wrong(value, path_of(value), "must not contain a NUL character");
}

const char *faucet_json_text(faucet_json *object, const char *name, const char *otherwise) {
    const faucet_json *value = get_kind(object, name, FAUCET_JSON_TEXT);
    return value && is_whole(value) ? value->text : otherwise;
}

bool faucet_json_flag(faucet_json *object, const char *name, bool otherwise) {
    const faucet_json *value = get_kind(object, name, FAUCET_JSON_FLAG);
    return value ? value->flag : otherwise;
}

int64_t faucet_json_integer(faucet_json *object, const char *name, int64_t otherwise) {
    const faucet_json *value = get_kind(object, name, FAUCET_JSON_INTEGER);
    return value ? value->integer : otherwise;
}

double faucet_json_number(faucet_json *object, const char *name, double otherwise) {
    const faucet_json *value = faucet_json_get(object, name);
    if (value && value->kind == FAUCET_JSON_INTEGER) return value->number;
    value = get_kind(object, name, FAUCET_JSON_NUMBER);
    return value ? value->number : otherwise;
}

const char *const *faucet_json_texts(faucet_json *object, const char *name, const char *const *otherwise) {
    faucet_json *list = get_kind(object, name, FAUCET_JSON_LIST);
    if (!list) return otherwise;
    const char **texts = faucet_alloc((list->size + 1) * sizeof *texts), **to = texts;
    for (faucet_json *item = faucet_json_first(list); item; item = faucet_json_next(item)) {
        if (item->kind != FAUCET_JSON_TEXT)
            is_another_kind(item, FAUCET_JSON_TEXT);
        else if (is_whole(item))
            *to++ = item->text;
    }
    return texts;
}

int faucet_json_choice(faucet_json *object, const char *name, const char *const *choices, int otherwise) {
    const char *text = faucet_json_text(object, name, NULL);
    if (!text) return otherwise;
    const char *all = "";
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) return i;
        all = faucet_print("%s%s%s", all, *all ? ", " : "", choices[i]);
    }
    faucet_json_wrong(object, name, "must be one of %s", all);
    return otherwise;
}

bool faucet_json_require(faucet_json *object, const char *name) {
    const faucet_json *value = faucet_json_get(object, name);
    if (value && value->kind != FAUCET_JSON_NULL) return true;
    return faucet_json_wrong(object, name, "is missing");
}

void json_refuse_unknown(const faucet_json *root) {
    for (const faucet_json *item = root->first; item; item = item->next) {
        if (item->asked)
            json_refuse_unknown(item);
        else if (item->name)
            wrong(item, path_of(item), "is not a setting of this plugin");
    }
}
