/* Pages: rows of one table. */
#include "internal.h"

static faucet_column column_view(const wire_column_t *column, size_t rows) {
    return (faucet_column){
        .name = string_copy(&column->name),
        .kind = (faucet_kind)column->kind,
        .native = column->native.is_some ? string_copy(&column->native.val) : NULL,
        .rows = rows,
        .validity = column->validity.len ? column->validity.ptr : NULL,
        .absent = column->absent.len ? column->absent.ptr : NULL,
        .data = column->data.ptr,
        .offsets = (const int32_t *)(const void *)column->offsets.ptr,
    };
}

faucet_page page_view(const wire_page_t *page) {
    faucet_column *columns = faucet_alloc(page->columns.len * sizeof *columns);
    for (size_t i = 0; i < page->columns.len; i++) columns[i] = column_view(&page->columns.ptr[i], page->rows);
    const char **key = faucet_alloc(page->key.len * sizeof *key);
    for (size_t i = 0; i < page->key.len; i++) key[i] = string_copy(&page->key.ptr[i]);
    return (faucet_page){
        .schema = page->table.schema.is_some ? string_copy(&page->table.schema.val) : NULL,
        .table = string_copy(&page->table.name),
        .rows = page->rows,
        .column_count = page->columns.len,
        .columns = columns,
        .key_count = page->key.len,
        .key = key,
    };
}

const faucet_column *faucet_find_column(const faucet_page *page, const char *name) {
    for (size_t i = 0; i < page->column_count; i++)
        if (strcmp(page->columns[i].name, name) == 0) return &page->columns[i];
    return NULL;
}

static const char *column_names(const faucet_page *page) {
    const char *names = page->column_count ? page->columns[0].name : "none";
    for (size_t i = 1; i < page->column_count; i++) names = faucet_print("%s, %s", names, page->columns[i].name);
    return names;
}

const faucet_column *faucet_column_of(const faucet_page *page, const char *name) {
    const faucet_column *column = faucet_find_column(page, name);
    if (!column) faucet_fail("table '%s' has no column '%s' (it has %s)", page->table, name, column_names(page));
    return column;
}

bool faucet_is_key(const faucet_page *page, const char *name) {
    for (size_t i = 0; i < page->key_count; i++)
        if (strcmp(page->key[i], name) == 0) return true;
    return false;
}

faucet_op faucet_op_of(const faucet_page *page, size_t row) {
    const faucet_column *column = faucet_find_column(page, "__op");
    if (!column) return FAUCET_PLAIN;
    faucet_text op = faucet_text_at(column, row);
    if (op.size == 1 && memchr("cudrt", *op.at, 5)) return (faucet_op)*op.at;
    faucet_fail("column '__op' holds something else than c, u, d, r and t");
    return FAUCET_PLAIN;
}

bool faucet_expect_kind(const faucet_column *column, faucet_kind kind) {
    if (column->kind == kind) return true;
    return faucet_fail("column '%s' is %s, and %s is needed", column->name, faucet_kind_name(column->kind),
                       faucet_kind_name(kind));
}
