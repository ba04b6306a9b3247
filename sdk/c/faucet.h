/* faucet.h: write plugins for faucet in C.
 *
 * A plugin is one constant named `faucet_plugin` of type faucet_transform, faucet_source or faucet_sink. A whole one:
 *
 *     #include "faucet.h"
 *
 *     static bool apply(void *state, const faucet_page *page, faucet_output *output) {
 *         const faucet_column *id = faucet_column_of(page, "id");
 *         if (!id) return false;
 *         for (size_t row = 0; row < page->rows; row++)
 *             if (faucet_int64_at(id, row) < 0) faucet_reject(output, row, "the id is negative");
 *         return faucet_pass(output);
 *     }
 *
 *     const faucet_transform faucet_plugin = {
 *         .about = {.name = "positive", .version = "0.1.0", .summary = "Rejects negative ids", .config_schema = "{}"},
 *         .deterministic = true,
 *         .apply = apply,
 *     };
 *
 * Failing. Whatever of the SDK can fail says so to the host by itself: the call fails, even if what the function
 * returned is ignored and the plugin's own function returns true. For failures of your own: `return faucet_fail(...)`.
 * Memory. What the SDK hands out lives until the call is over; what it hands out in `open`, until `close`. The plugin
 * frees none of it. A faucet_text is not ended by NUL; a `const char *` is.
 * Null is not absent. An absent value is one the row says nothing about: a sink leaves such a column alone. */
#ifndef FAUCET_H
#define FAUCET_H
#include "faucet/http.h"
#include "faucet/sink.h"
#include "faucet/source.h"
#include "faucet/transform.h"
#endif
