// tidemark_sha256.h — SHA-256 (FIPS 180-4) of short messages by the processor's instructions for it,
// two messages side by side: an instruction takes some cycles, in which one of the other message
// can begin.
//
// It is for hashes of many short messages, where a library's state that is made and freed takes as
// long as the hash. Where tidemark_has_sha256() is 0 the other functions must not be called.
#ifndef TIDEMARK_SHA256_H
#define TIDEMARK_SHA256_H

#include <stddef.h>
#include <stdint.h>

// Whether the processor has the instructions, and this build knows how to use them.
int tidemark_has_sha256(void);

// Writes the 32 bytes of a message's hash, which may lie in the message.
void tidemark_sha256(const uint8_t *message, size_t count, uint8_t *digest);

// The same of two messages; the second one's hash is written behind the first one's.
void tidemark_sha256_two(
    const uint8_t *first, size_t first_count, const uint8_t *second, size_t second_count,
    uint8_t *digests);

#endif
