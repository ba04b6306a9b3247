/* What a plugin says about itself. */
#ifndef FAUCET_ABOUT_H
#define FAUCET_ABOUT_H
#include "host.h"

/* What a plugin asks for beyond its pages. It gets what it asks for here, the configuration grants, and the operator's
 * ceiling allows: all three. Lists end with NULL; a list that is NULL asks for nothing. */
typedef struct faucet_wants {
    const char *const *http;    /* "api.example.com:443"; "*" = the hosts the configuration grants */
    const char *const *read;    /* folders it reads, as it opens them: "/reference" */
    const char *const *write;   /* folders it writes */
    const char *const *env;     /* environment variables */
    const char *const *secrets; /* names; "*" = those the configuration grants */
    bool clock;                 /* the real time, instead of a clock that stands still */
    bool random;                /* real randomness, instead of a fixed sequence */
} faucet_wants;

/* Name and purpose. */
typedef struct faucet_about {
    const char *name;          /* [a-z0-9_-]+ */
    const char *version;       /* of the plugin */
    const char *summary;       /* one sentence */
    const char *config_schema; /* JSON Schema (2020-12) of the configuration, as text */
    faucet_wants wants;
} faucet_about;
#endif
