/* SHA-256 as FIPS 180-4 describes it. */
#ifndef SHA256_H
#define SHA256_H
#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t state[8];
    uint64_t size;
    uint8_t block[64];
} sha256;

/* Starts a digest. A copy of the struct goes on from where the original is. */
void sha256_start(sha256 *digest);

/* Reads more. */
void sha256_add(sha256 *digest, const void *at, size_t size);

/* Ends it and writes the 64 hex digits, without a NUL. */
void sha256_hex(sha256 *digest, char *hex);
#endif
