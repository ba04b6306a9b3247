/* HTTP, one request at a time, to hosts that the plugin asks for (`wants`) and the configuration grants. */
#ifndef FAUCET_HTTP_H
#define FAUCET_HTTP_H
#include "host.h"

/* A header. */
typedef struct faucet_header {
    const char *name, *value;
} faucet_header;

/* Secrets never reach the plugin: where a header or the path says ${secret:NAME}, the host puts the value. */
typedef struct faucet_request {
    const char *method; /* GET where it is NULL */
    const char *url;    /* absolute: http or https */
    const faucet_header *headers;
    size_t header_count;
    faucet_bytes body;
    uint32_t timeout_ms; /* to the head of the answer; 0 leaves it to the host, which may wait less in any case */
} faucet_request;

/* What came back, whatever its status. Names are in lower case, and come as often as they were sent. */
typedef struct faucet_response {
    int status;
    const faucet_header *headers;
    size_t header_count;
    faucet_bytes body;
} faucet_response;

/* Sends a request and waits for all of the answer. Redirects are not followed. NULL, and the call fails, if there is none. */
const faucet_response *faucet_send(const faucet_request *request);

/* Whether the status is 200 to 299; if not, the call fails: as unavailable for 408, 429 and those from 500 on. */
bool faucet_is_ok(const faucet_response *response);

/* The value of the first header of this name (in lower case), or NULL. */
const char *faucet_header_of(const faucet_response *response, const char *name);
#endif
