/* What a source hands out, in the making. */
#ifndef FAUCET_BATCH_H
#define FAUCET_BATCH_H
#include "../faucet/source.h"
#include "../src/internal.h"

struct faucet_tables {
    bytes tables; /* of exports_out_discovered_t */
};

struct faucet_batch {
    faucet_source_page *first, **end;
    size_t count;
    bool commits, has_bookmark, ended;
    faucet_bookmark bookmark;
    uint32_t wait;
};

/* Says what is wrong with the batch: columns of different lengths, changes that are missing. */
bool batch_check(const faucet_batch *batch);

/* Moves a batch that is well into the answer. */
void batch_finish(faucet_batch *batch, exports_out_batch_t *out);

/* Bytes on their way out. */
wire_list_u8_t bytes_out(faucet_bytes bytes);
#endif
