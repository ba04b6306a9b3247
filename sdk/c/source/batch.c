/* Pages on their way out of a source, and what follows them. */
#include "batch.h"
#include "../src/about.h"
#include <stdlib.h>

/* A column of a page, and its before-image if it has one. */
typedef struct slot {
    faucet_builder *values, *before;
    struct slot *next;
} slot;

struct faucet_source_page {
    const char *schema, *table;
    slot *first, **end;
    size_t columns;
    bytes key; /* of names */
    bytes ops, positions, committed_at;
    size_t position_width;
    bool has_before;
    faucet_source_page *next;
};

/* Arrays that grow in the call's own memory, so that a failure frees them too. */
static void *extend(bytes *array, size_t size) {
    if (array->room - array->size < size) {
        size_t room = array->room * 2 + size;
        uint8_t *at = faucet_alloc(room);
        if (array->size) memcpy(at, array->at, array->size);
        array->at = at;
        array->room = room;
    }
    array->size += size;
    return array->at + array->size - size;
}

faucet_source_page *faucet_add_page(faucet_batch *batch, const char *schema, const char *table) {
    faucet_source_page *page = faucet_alloc(sizeof *page);
    page->schema = schema ? faucet_copy(faucet_text_of(schema)) : NULL;
    page->table = faucet_copy(faucet_text_of(table));
    page->end = &page->first;
    *batch->end = page;
    batch->end = &page->next;
    batch->count++;
    return page;
}

faucet_builder *faucet_add_column(faucet_source_page *page, const char *name, faucet_kind kind) {
    slot *added = faucet_alloc(sizeof *added);
    added->values = faucet_build(name, kind);
    *page->end = added;
    page->end = &added->next;
    page->columns++;
    return added->values;
}

static slot *find(const faucet_source_page *page, const char *name) {
    slot *at = page->first;
    while (at && strcmp(at->values->name, name) != 0) at = at->next;
    if (!at) faucet_fail("the page of table '%s' has no column '%s'", page->table, name);
    return at;
}

void faucet_add_key(faucet_source_page *page, const char *column) {
    const slot *at = find(page, column);
    const char *name = at ? at->values->name : column;
    memcpy(extend(&page->key, sizeof name), &name, sizeof name);
}

void faucet_add_change(faucet_source_page *page, faucet_op op, faucet_bytes position, int64_t committed_at) {
    if (page->ops.size == 0) page->position_width = position.size;
    if (position.size != page->position_width) {
        faucet_fail("the positions of table '%s' have %zu and %zu bytes: all of a page need one width", page->table,
                    page->position_width, position.size);
        return;
    }
    *(uint8_t *)extend(&page->ops, 1) = (uint8_t)op;
    if (position.size) memcpy(extend(&page->positions, position.size), position.at, position.size);
    memcpy(extend(&page->committed_at, sizeof committed_at), &committed_at, sizeof committed_at);
}

faucet_builder *faucet_add_before(faucet_source_page *page, const char *column) {
    slot *at = find(page, column);
    if (!at) return faucet_build(column, FAUCET_TEXT);
    if (!at->before) {
        at->before = faucet_build(column, at->values->kind);
        at->before->native = at->values->native;
    }
    page->has_before = true;
    return at->before;
}

void faucet_commit(faucet_batch *batch, faucet_bookmark bookmark) {
    batch->commits = batch->has_bookmark = true;
    batch->bookmark = bookmark;
}

void faucet_commit_without_bookmark(faucet_batch *batch) { batch->commits = true; }

void faucet_wait(faucet_batch *batch, uint32_t milliseconds) { batch->wait = milliseconds; }

void faucet_end(faucet_batch *batch) { batch->ended = true; }

static size_t rows_of(const faucet_source_page *page) { return page->first ? page->first->values->rows : 0; }

static bool check_column(const faucet_source_page *page, const faucet_builder *column, size_t rows) {
    if (!column || column->rows == rows) return true;
    return faucet_fail("column '%s' of table '%s' has %zu values for %zu rows", column->name, page->table, column->rows,
                       rows);
}

static bool check_page(const faucet_source_page *page) {
    size_t rows = rows_of(page);
    if (page->ops.size && page->ops.size != rows)
        return faucet_fail("table '%s' has %zu changes for %zu rows", page->table, page->ops.size, rows);
    if (page->has_before && !page->ops.size && rows)
        return faucet_fail("table '%s' has before-images, and does not say what its rows did", page->table);
    for (const slot *at = page->first; at; at = at->next)
        if (!check_column(page, at->values, rows) || !check_column(page, at->before, rows)) return false;
    return true;
}

bool batch_check(const faucet_batch *batch) {
    if (batch->ended && batch->count) return faucet_fail("the source ended together with pages");
    for (const faucet_source_page *page = batch->first; page; page = page->next)
        if (!check_page(page)) return false;
    return true;
}

wire_list_u8_t bytes_out(faucet_bytes bytes) {
    wire_list_u8_t list = {array_out(bytes.size, 1), bytes.size};
    if (bytes.size) memcpy(list.ptr, bytes.at, bytes.size);
    return list;
}

static wire_list_u8_t array_bytes(const bytes *array) { return bytes_out((faucet_bytes){array->at, array->size}); }

/* A before-image that says nothing of a column has it absent. */
static faucet_builder *before_of(const slot *slot, size_t rows) {
    if (slot->before) return slot->before;
    faucet_builder *absent = faucet_build(slot->values->name, slot->values->kind);
    absent->native = slot->values->native;
    for (size_t row = 0; row < rows; row++) faucet_push_absent(absent);
    return absent;
}

/* A row has a before-image if that says something of any column. */
static void mark_present(uint8_t *present, const faucet_builder *before) {
    faucet_column column = builder_view(before);
    for (size_t row = 0; row < before->rows; row++)
        if (!faucet_is_absent(&column, row)) present[row / 8] |= (uint8_t)(1u << (row % 8));
}

static void before_out(const faucet_source_page *page, exports_out_before_t *out) {
    size_t rows = rows_of(page), at = 0;
    out->present = (wire_list_u8_t){array_out(bitmap_size(rows), 1), bitmap_size(rows)};
    out->columns = (exports_out_list_column_t){array_out(page->columns, sizeof *out->columns.ptr), page->columns};
    for (const slot *slot = page->first; slot; slot = slot->next) {
        faucet_builder *before = before_of(slot, rows);
        mark_present(out->present.ptr, before);
        builder_finish(before, &out->columns.ptr[at++]);
    }
}

static void change_out(const faucet_source_page *page, exports_out_change_t *out) {
    out->ops = array_bytes(&page->ops);
    out->position_width = (uint32_t)page->position_width;
    out->positions = array_bytes(&page->positions);
    out->committed_at = array_bytes(&page->committed_at);
    out->before.is_some = page->has_before;
    if (page->has_before) before_out(page, &out->before.val);
}

static wire_list_string_t key_out(const faucet_source_page *page) {
    const char **names = (const char **)(void *)page->key.at;
    size_t count = page->key.size / sizeof *names;
    wire_list_string_t list = {array_out(count, sizeof *list.ptr), count};
    for (size_t i = 0; i < count; i++) list.ptr[i] = string_out(names[i]);
    return list;
}

static void page_out(const faucet_source_page *page, exports_out_source_page_t *out) {
    out->page.table.schema.is_some = page->schema != NULL;
    if (page->schema) out->page.table.schema.val = string_out(page->schema);
    out->page.table.name = string_out(page->table);
    out->page.rows = (uint32_t)rows_of(page);
    out->page.key = key_out(page);
    out->change.is_some = page->ops.size != 0;
    if (out->change.is_some) change_out(page, &out->change.val);
    size_t at = 0;
    out->page.columns = (wire_list_column_t){array_out(page->columns, sizeof(wire_column_t)), page->columns};
    for (const slot *slot = page->first; slot; slot = slot->next)
        builder_finish(slot->values, &out->page.columns.ptr[at++]);
}

void batch_finish(faucet_batch *batch, exports_out_batch_t *out) {
    size_t at = 0;
    out->pages = (exports_out_list_source_page_t){array_out(batch->count, sizeof *out->pages.ptr), batch->count};
    for (const faucet_source_page *page = batch->first; page; page = page->next) page_out(page, &out->pages.ptr[at++]);
    out->wait_ms = batch->wait;
    out->boundary.tag = batch->commits ? EXPORTS_OUT_BOUNDARY_COMMIT : EXPORTS_OUT_BOUNDARY_INSIDE;
    if (!batch->commits) return;
    out->boundary.val.commit.is_some = batch->has_bookmark;
    if (!batch->has_bookmark) return;
    out->boundary.val.commit.val.position = bytes_out(batch->bookmark.position);
    out->boundary.val.commit.val.state = bytes_out(batch->bookmark.state);
}
