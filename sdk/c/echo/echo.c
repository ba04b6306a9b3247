/* Gives every page back as it came: by value through the row view and the builders, or passed through. */
#include "faucet.h"

static const char *const MODES[] = {"values", "pass", NULL};

static bool open(faucet_json *config, void **state) {
    int *mode = faucet_alloc(sizeof *mode);
    *mode = faucet_json_choice(config, "mode", MODES, 0);
    *state = mode;
    return true;
}

static void echo_text(faucet_builder *to, const faucet_column *from, size_t row) {
    faucet_text text = faucet_text_at(from, row);
    faucet_push_text(to, text.at, text.size);
}

static void echo_value(faucet_builder *to, const faucet_column *from, size_t row) {
    switch (from->kind) {
    case FAUCET_BOOLEAN: return faucet_push_boolean(to, faucet_boolean_at(from, row));
    case FAUCET_INT64: return faucet_push_int64(to, faucet_int64_at(from, row));
    case FAUCET_UINT64: return faucet_push_uint64(to, faucet_uint64_at(from, row));
    case FAUCET_FLOAT32: return faucet_push_float32(to, faucet_float32_at(from, row));
    case FAUCET_FLOAT64: return faucet_push_float64(to, faucet_float64_at(from, row));
    case FAUCET_BYTES: return faucet_push_bytes(to, faucet_bytes_at(from, row).at, faucet_bytes_at(from, row).size);
    case FAUCET_DATE: return faucet_push_date(to, faucet_date_at(from, row));
    case FAUCET_TIME: return faucet_push_time(to, faucet_time_at(from, row));
    case FAUCET_TIMESTAMP: return faucet_push_timestamp(to, faucet_timestamp_at(from, row));
    case FAUCET_TIMESTAMPTZ: return faucet_push_timestamptz(to, faucet_timestamptz_at(from, row));
    case FAUCET_INTERVAL: return faucet_push_interval(to, faucet_interval_at(from, row));
    case FAUCET_UUID: return faucet_push_uuid(to, faucet_uuid_at(from, row));
    case FAUCET_DECIMAL:
    case FAUCET_TEXT:
    case FAUCET_JSON:
    case FAUCET_NATIVE: return echo_text(to, from, row);
    }
}

static faucet_builder *echo_column(const faucet_column *column) {
    faucet_builder *to = faucet_build(column->name, column->kind);
    if (column->native) faucet_set_native(to, column->native);
    for (size_t row = 0; row < column->rows; row++) {
        if (faucet_is_absent(column, row))
            faucet_push_absent(to);
        else if (faucet_is_null(column, row))
            faucet_push_null(to);
        else
            echo_value(to, column, row);
    }
    return to;
}

static bool apply(void *state, const faucet_page *page, faucet_output *output) {
    const int *mode = state;
    faucet_page_out *out = faucet_pass(output);
    for (size_t i = 0; *mode == 0 && i < page->column_count; i++) faucet_set(out, echo_column(&page->columns[i]));
    return true;
}

const faucet_transform faucet_plugin = {
    .about =
        {
            .name = "echo",
            .version = "0.1.0",
            .summary = "Gives every page back as it came",
            .config_schema = "{\"type\": \"object\", \"additionalProperties\": false, \"properties\": "
                             "{\"mode\": {\"enum\": [\"values\", \"pass\"]}}}",
        },
    .deterministic = true,
    .open = open,
    .apply = apply,
};
