/* What a transform gives back, in the making. */
#ifndef FAUCET_OUTPUT_H
#define FAUCET_OUTPUT_H
#include "../faucet/transform.h"
#include "../src/internal.h"

struct faucet_output {
    const faucet_page *page;
    faucet_page_out *first, **end;
    size_t count;
    const char **reasons; /* why a row was rejected, for each row of the input, or NULL */
    size_t rejected;
};

/* Moves it into the answer. Not after a failure: what it takes is only freed with the answer. */
void output_finish(faucet_output *output, wire_output_t *out);
#endif
