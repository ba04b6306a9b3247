/* What a transform gives back: pages made from the input page, and rejected rows. */
#include "output.h"
#include "../src/about.h"

/* A column of an output page. */
typedef struct slot {
    const faucet_column *input; /* the input column that it is, or that it took the place of; NULL if neither */
    const char *name;
    faucet_builder *values; /* NULL for an input column passed through */
} slot;

struct faucet_page_out {
    faucet_output *output;
    slot *slots;
    size_t count, room;
    const uint32_t *selected; /* NULL for all rows of the input */
    size_t rows;              /* of `selected`, or of the input */
    uint8_t *dropped;         /* one bit for each row of the input, or NULL */
    const char *schema, *table;
    const char *const *key;
    size_t key_count;
    faucet_page_out *next;
};

faucet_page_out *faucet_pass(faucet_output *output) {
    const faucet_page *page = output->page;
    faucet_page_out *out = faucet_alloc(sizeof *out);
    out->output = output;
    out->count = page->column_count;
    out->room = page->column_count + 4;
    out->slots = faucet_alloc(out->room * sizeof *out->slots);
    for (size_t i = 0; i < out->count; i++) out->slots[i] = (slot){&page->columns[i], page->columns[i].name, NULL};
    out->rows = page->rows;
    *output->end = out;
    output->end = &out->next;
    output->count++;
    return out;
}

void faucet_reject(faucet_output *output, size_t row, const char *format, ...) {
    size_t rows = output->page->rows;
    if (row >= rows) {
        faucet_fail("row %zu of %zu was rejected", row, rows);
        return;
    }
    if (!output->reasons) output->reasons = faucet_alloc(rows * sizeof *output->reasons);
    if (output->reasons[row]) return;
    arena memory = {0};
    va_list arguments;
    va_start(arguments, format);
    output->reasons[row] = faucet_copy(faucet_text_of(arena_print(&memory, format, arguments)));
    va_end(arguments);
    arena_free(&memory);
    output->rejected++;
}

static slot *find(const faucet_page_out *page, const char *name) {
    for (size_t i = 0; i < page->count; i++)
        if (strcmp(page->slots[i].name, name) == 0) return &page->slots[i];
    return NULL;
}

static slot *expect(const faucet_page_out *page, const char *name) {
    slot *found = find(page, name);
    if (!found) faucet_fail("table '%s' has no column '%s'", page->output->page->table, name);
    return found;
}

static slot *append(faucet_page_out *page, const char *name) {
    if (page->count == page->room) {
        page->room *= 2;
        slot *slots = faucet_alloc(page->room * sizeof *slots);
        memcpy(slots, page->slots, page->count * sizeof *slots);
        page->slots = slots;
    }
    page->slots[page->count] = (slot){.name = name};
    return &page->slots[page->count++];
}

bool faucet_set(faucet_page_out *page, faucet_builder *column) {
    if (column->rows != page->rows)
        return faucet_fail("new column '%s' has %zu values for %zu rows", column->name, column->rows, page->rows);
    slot *at = find(page, column->name);
    if (!at) at = append(page, column->name);
    at->values = column;
    return true;
}

static bool is_free(const faucet_page_out *page, const char *from, const char *to) {
    return !find(page, to) || faucet_fail("can't name column '%s' '%s': there is one of that name", from, to);
}

bool faucet_add_copy(faucet_page_out *page, const char *of, const char *name) {
    const faucet_column *input = faucet_column_of(page->output->page, of);
    if (!input || !is_free(page, of, name)) return false;
    append(page, faucet_copy(faucet_text_of(name)))->input = input;
    return true;
}

bool faucet_remove(faucet_page_out *page, const char *name) {
    slot *at = expect(page, name);
    if (!at) return false;
    slot *end = page->slots + page->count--;
    memmove(at, at + 1, (size_t)(end - at - 1) * sizeof *at);
    return true;
}

bool faucet_rename(faucet_page_out *page, const char *from, const char *to) {
    slot *at = expect(page, from);
    if (!at || (strcmp(from, to) != 0 && !is_free(page, from, to))) return false;
    at->name = faucet_copy(faucet_text_of(to));
    if (at->values) at->values->name = faucet_copy(faucet_text_of(to));
    return true;
}

void faucet_drop(faucet_page_out *page, size_t row) {
    size_t rows = page->output->page->rows;
    if (row >= rows) {
        faucet_fail("row %zu of %zu was dropped", row, rows);
        return;
    }
    if (!page->dropped) page->dropped = faucet_alloc(bitmap_size(rows));
    page->dropped[row / 8] |= (uint8_t)(1u << (row % 8));
}

bool faucet_select(faucet_page_out *page, const uint32_t *rows, size_t count) {
    size_t limit = page->output->page->rows;
    if (page->selected) return faucet_fail("the rows of an output page were selected twice");
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= limit) return faucet_fail("row %u of %zu was selected", rows[i], limit);
    uint32_t *copy = faucet_alloc((count + 1) * sizeof *copy);
    if (count) memcpy(copy, rows, count * sizeof *copy);
    page->selected = copy;
    page->rows = count;
    for (size_t i = 0; i < page->count; i++)
        if (page->slots[i].values) page->slots[i].values = builder_gather(page->slots[i].values, copy, count);
    return true;
}

void faucet_set_table(faucet_page_out *page, const char *schema, const char *table) {
    page->schema = schema ? faucet_copy(faucet_text_of(schema)) : NULL;
    page->table = faucet_copy(faucet_text_of(table));
}

void faucet_set_key(faucet_page_out *page, const char *const *names, size_t count) {
    const char **key = faucet_alloc((count + 1) * sizeof *key);
    for (size_t i = 0; i < count; i++) key[i] = faucet_copy(faucet_text_of(names[i]));
    page->key = key;
    page->key_count = count;
}

static wire_list_string_t strings_out(const char *const *texts, size_t count) {
    wire_list_string_t list = {array_out(count, sizeof *list.ptr), count};
    for (size_t i = 0; i < count; i++) list.ptr[i] = string_out(texts[i]);
    return list;
}

/* Which of the page's rows stay, by their place in it, and which rows of the input they are. */
typedef struct rows_left {
    uint32_t *places, *inputs;
    size_t count;
} rows_left;

static rows_left left(const faucet_page_out *page) {
    rows_left left = {faucet_alloc((page->rows + 1) * 4), faucet_alloc((page->rows + 1) * 4), 0};
    const char *const *reasons = page->output->reasons;
    for (size_t i = 0; i < page->rows; i++) {
        uint32_t row = page->selected ? page->selected[i] : (uint32_t)i;
        if ((page->dropped && faucet_bit(page->dropped, row)) || (reasons && reasons[row])) continue;
        left.places[left.count] = (uint32_t)i;
        left.inputs[left.count++] = row;
    }
    return left;
}

static void slot_out(const faucet_page_out *page, slot slot, const rows_left *left, wire_column_out_t *out) {
    if (slot.values) {
        bool all = left->count == page->rows;
        out->tag = WIRE_COLUMN_OUT_BUFFERS;
        builder_finish(all ? slot.values : builder_gather(slot.values, left->places, left->count), &out->val.buffers);
        return;
    }
    out->tag = WIRE_COLUMN_OUT_INPUT;
    out->val.input.index = (uint32_t)(slot.input - page->output->page->columns);
    out->val.input.name.is_some = strcmp(slot.name, slot.input->name) != 0;
    if (out->val.input.name.is_some) out->val.input.name.val = string_out(slot.name);
}

/* The name by now of a column of the input's key. Sets `moved` if the host can't know it: new values took its place. */
static const char *key_name(const faucet_page_out *page, const char *key, bool *moved) {
    for (size_t i = 0; i < page->count; i++) {
        const slot *slot = &page->slots[i];
        if (!slot->input || strcmp(slot->input->name, key) != 0) continue;
        if (slot->values && strcmp(slot->name, key) != 0) *moved = true;
        return slot->name;
    }
    return key;
}

static void follow_key(faucet_page_out *page) {
    const faucet_page *input = page->output->page;
    const char **names = faucet_alloc((input->key_count + 1) * sizeof *names);
    bool moved = false;
    for (size_t i = 0; i < input->key_count; i++) names[i] = key_name(page, input->key[i], &moved);
    if (moved) faucet_set_key(page, names, input->key_count);
}

static void page_out(faucet_page_out *page, wire_page_out_t *out) {
    rows_left rows = left(page);
    out->rows = (uint32_t)rows.count;
    out->selection.is_some = page->selected || rows.count != page->rows;
    if (out->selection.is_some) {
        size_t size = rows.count * sizeof *rows.inputs;
        out->selection.val = (wire_list_u8_t){array_out(size, 1), size};
        if (size) memcpy(out->selection.val.ptr, rows.inputs, size);
    }
    out->table.is_some = page->table != NULL;
    if (page->table) {
        out->table.val.schema.is_some = page->schema != NULL;
        if (page->schema) out->table.val.schema.val = string_out(page->schema);
        out->table.val.name = string_out(page->table);
    }
    if (!page->key) follow_key(page);
    out->key.is_some = page->key != NULL;
    if (page->key) out->key.val = strings_out(page->key, page->key_count);
    out->columns = (wire_list_column_out_t){array_out(page->count, sizeof *out->columns.ptr), page->count};
    for (size_t i = 0; i < page->count; i++) slot_out(page, page->slots[i], &rows, &out->columns.ptr[i]);
}

void output_finish(faucet_output *output, wire_output_t *out) {
    out->pages = (wire_list_page_out_t){array_out(output->count, sizeof *out->pages.ptr), output->count};
    size_t at = 0;
    for (faucet_page_out *page = output->first; page; page = page->next) page_out(page, &out->pages.ptr[at++]);
    out->rejected = (wire_list_reject_t){array_out(output->rejected, sizeof *out->rejected.ptr), output->rejected};
    at = 0;
    for (size_t row = 0; at < output->rejected; row++) {
        if (!output->reasons[row]) continue;
        out->rejected.ptr[at++] = (wire_reject_t){(uint32_t)row, string_out(output->reasons[row])};
    }
}
