/* The client of sdk/http/client.wit, as the canonical ABI flattens it. */
#include "../faucet/http.h"
#include "internal.h"
#include <stdlib.h>

typedef struct pair {
    wire_string_t name, value;
} pair;

typedef struct pairs {
    pair *ptr;
    size_t len;
} pairs;

/* A result with a response or an error. */
typedef struct answer {
    uint8_t is_error;
    union {
        struct {
            uint16_t status;
            pairs headers;
            wire_list_u8_t body;
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

static const faucet_response *failed(answer *answer) {
    char *message = string_copy(&answer->error.message);
    wire_string_free(&answer->error.message);
    if (answer->error.is_final) {
        faucet_fail("%s", message);
    } else {
        faucet_unavailable("%s", message);
    }
    return NULL;
}

/* The answer in memory of the call; what the host allocated is freed. */
static const faucet_response *received(answer *answer) {
    pairs headers = answer->response.headers;
    wire_list_u8_t body = answer->response.body;
    faucet_header *copied = faucet_alloc(headers.len * sizeof *copied);
    for (size_t i = 0; i < headers.len; i++) {
        pair *header = &headers.ptr[i];
        copied[i] = (faucet_header){string_copy(&header->name), string_copy(&header->value)};
        wire_string_free(&header->name);
        wire_string_free(&header->value);
    }
    if (headers.len > 0) free(headers.ptr);
    uint8_t *bytes = faucet_alloc(body.len);
    if (body.len > 0) memcpy(bytes, body.ptr, body.len);
    wire_list_u8_free(&body);
    faucet_response *response = faucet_alloc(sizeof *response);
    *response = (faucet_response){answer->response.status, copied, headers.len, {bytes, body.len}};
    return response;
}


const faucet_response *faucet_send(const faucet_request *request) {
    pair *headers = faucet_alloc(request->header_count * sizeof *headers);
    for (size_t i = 0; i < request->header_count; i++) {
        headers[i] = (pair){lend(request->headers[i].name), lend(request->headers[i].value)};
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
