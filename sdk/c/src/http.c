/* The client of sdk/http/client.wit, as the canonical ABI flattens it. */
#include "../faucet/http.h"
#include "internal.h"
#include <stdlib.h>

typedef struct pair {
    wire_string_t name, value;
} pair;

typedef struct list {
    void *at;
    size_t count;
} list;

/* A result with a response or an error. */
typedef struct answer {
    uint8_t is_error;
    union {
        struct {
            uint16_t status;
            list headers, body;
        } response;
        struct {
            uint8_t is_final;
            wire_string_t message;
        } error;
    };
} answer;

__attribute__((__import_module__("faucet:http/client@0.1.0"), __import_name__("send"))) void host_send(
    const char *method, size_t method_size, const char *url, size_t url_size, const pair *headers, size_t header_count,
    const uint8_t *body, size_t body_size, uint32_t has_timeout, uint32_t timeout, answer *answer);

static const faucet_response *failed(const answer *answer) {
    char *message = string_copy(&answer->error.message);
    free(answer->error.message.ptr);
    if (answer->error.is_final) {
        faucet_fail("%s", message);
    } else {
        faucet_unavailable("%s", message);
    }
    return NULL;
}

/* The answer in memory of the call; what the host allocated is freed. */
static const faucet_response *received(const answer *answer) {
    list headers = answer->response.headers, body = answer->response.body;
    const pair *pairs = headers.at;
    faucet_header *copied = faucet_alloc(headers.count * sizeof *copied);
    for (size_t i = 0; i < headers.count; i++) {
        copied[i] = (faucet_header){string_copy(&pairs[i].name), string_copy(&pairs[i].value)};
        free(pairs[i].name.ptr);
        free(pairs[i].value.ptr);
    }
    if (headers.count > 0) free(headers.at);
    uint8_t *bytes = faucet_alloc(body.count);
    if (body.count > 0) {
        memcpy(bytes, body.at, body.count);
        free(body.at);
    }
    faucet_response *response = faucet_alloc(sizeof *response);
    *response = (faucet_response){answer->response.status, copied, headers.count, {bytes, body.count}};
    return response;
}

const faucet_response *faucet_send(const faucet_request *request) {
    pair *headers = faucet_alloc(request->header_count * sizeof *headers);
    for (size_t i = 0; i < request->header_count; i++) {
        const faucet_header *header = &request->headers[i];
        headers[i] = (pair){{(uint8_t *)header->name, strlen(header->name)}, {(uint8_t *)header->value, strlen(header->value)}};
    }
    const char *method = request->method ? request->method : "GET";
    answer answer = {0};
    host_send(method, strlen(method), request->url, strlen(request->url), headers, request->header_count,
              request->body.at, request->body.size, request->timeout_ms > 0, request->timeout_ms, &answer);
    return answer.is_error ? failed(&answer) : received(&answer);
}

bool faucet_is_ok(const faucet_response *response) {
    int status = response->status;
    if (status >= 200 && status < 300) return true;
    if (status == 408 || status == 429 || status >= 500) return faucet_unavailable("the server answered %d", status);
    return faucet_fail("the server answered %d", status);
}

const char *faucet_header_of(const faucet_response *response, const char *name) {
    for (size_t i = 0; i < response->header_count; i++) {
        if (strcmp(response->headers[i].name, name) == 0) return response->headers[i].value;
    }
    return NULL;
}
