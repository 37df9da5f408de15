// tidemark_sha256.c — the rounds of FIPS 180-4, section 6.2.2, four at a step, of one message or of
// two.

#include "tidemark_sha256.h"

#include <string.h>

// What differs between processors: the state of a hash in two vectors, four of its rounds, and the
// next four words of the message schedule.
#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define SHA256_TARGET __attribute__((target("sha,sse4.1,ssse3")))
#define SHA256_INLINE SHA256_TARGET static inline __attribute__((always_inline))

typedef __m128i words;

// a, b, e and f in one vector, c, d, g and h in the other, the first of them in the last lane.
typedef struct {
    words abef, cdgh;
} state;

int tidemark_has_sha256(void) {
    unsigned a, b, c, d;
    // SSSE3 and SSE4.1, then SHA.
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 9) || !(c & 1u << 19)) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 29);
}

SHA256_INLINE words load_constants(const uint32_t *from) {
    return _mm_loadu_si128((const words *)from);
}

SHA256_INLINE words load_message(const uint8_t *from) {
    const words order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    return _mm_shuffle_epi8(_mm_loadu_si128((const words *)from), order);
}

SHA256_INLINE state begin(const uint32_t *first) {
    const words dcba = _mm_shuffle_epi32(_mm_loadu_si128((const words *)first), 0xB1);
    const words hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const words *)(first + 4)), 0x1B);
    return (state){_mm_alignr_epi8(dcba, hgfe, 8), _mm_blend_epi16(hgfe, dcba, 0xF0)};
}

SHA256_INLINE state rounds(state now, words message, words constants) {
    const words sum = _mm_add_epi32(message, constants);
    now.cdgh = _mm_sha256rnds2_epu32(now.cdgh, now.abef, sum);
    now.abef = _mm_sha256rnds2_epu32(now.abef, now.cdgh, _mm_shuffle_epi32(sum, 0x0E));
    return now;
}

SHA256_INLINE words schedule(words w0, words w1, words w2, words w3) {
    const words sum = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
    return _mm_sha256msg2_epu32(sum, w3);
}

SHA256_INLINE state add(state left, state right) {
    return (state){
        _mm_add_epi32(left.abef, right.abef), _mm_add_epi32(left.cdgh, right.cdgh)};
}

SHA256_INLINE void finish(state now, uint8_t *digest) {
    const words order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    const words feba = _mm_shuffle_epi32(now.abef, 0x1B);
    const words dchg = _mm_shuffle_epi32(now.cdgh, 0xB1);
    const words dcba = _mm_blend_epi16(feba, dchg, 0xF0);
    const words hgfe = _mm_alignr_epi8(dchg, feba, 8);
    _mm_storeu_si128((words *)digest, _mm_shuffle_epi8(dcba, order));
    _mm_storeu_si128((words *)(digest + 16), _mm_shuffle_epi8(hgfe, order));
}

#elif defined(__AARCH64EL__) && (defined(__ARM_FEATURE_SHA2) || defined(__linux__))

#include <arm_neon.h>

#define SHA256_TARGET __attribute__((target("sha2")))
#define SHA256_INLINE SHA256_TARGET static inline __attribute__((always_inline))

typedef uint32x4_t words;

typedef struct {
    words abcd, efgh;
} state;

#if defined(__ARM_FEATURE_SHA2)
// As all processors have that the build is for.
int tidemark_has_sha256(void) { return 1; }
#else
#include <sys/auxv.h>
int tidemark_has_sha256(void) { return (getauxval(AT_HWCAP) & 1ul << 6 /* HWCAP_SHA2 */) != 0; }
#endif

SHA256_INLINE words load_constants(const uint32_t *from) { return vld1q_u32(from); }

SHA256_INLINE words load_message(const uint8_t *from) {
    return vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(from)));
}

SHA256_INLINE state begin(const uint32_t *first) {
    return (state){vld1q_u32(first), vld1q_u32(first + 4)};
}

SHA256_INLINE state rounds(state now, words message, words constants) {
    const words sum = vaddq_u32(message, constants);
    return (state){
        vsha256hq_u32(now.abcd, now.efgh, sum), vsha256h2q_u32(now.efgh, now.abcd, sum)};
}

SHA256_INLINE words schedule(words w0, words w1, words w2, words w3) {
    return vsha256su1q_u32(vsha256su0q_u32(w0, w1), w2, w3);
}

SHA256_INLINE state add(state left, state right) {
    return (state){vaddq_u32(left.abcd, right.abcd), vaddq_u32(left.efgh, right.efgh)};
}

SHA256_INLINE void finish(state now, uint8_t *digest) {
    vst1q_u8(digest, vrev32q_u8(vreinterpretq_u8_u32(now.abcd)));
    vst1q_u8(digest + 16, vrev32q_u8(vreinterpretq_u8_u32(now.efgh)));
}

#endif

#if defined(SHA256_TARGET)

// FIPS 180-4, section 4.2.2: of the cube roots of the first 64 primes.
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

// Section 5.3.3: of the square roots of the first eight.
static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

// A message in blocks of 64 bytes: those that are whole, and behind them one or two with its end,
// the bit 1, zeros, and its length in bits (section 5.1.1).
typedef struct {
    const uint8_t *whole;
    size_t whole_blocks, blocks;
    uint8_t end[128];
} message;

SHA256_INLINE void cut(message *to, const uint8_t *bytes, size_t count) {
    const size_t rest = count % 64, end_blocks = rest < 56 ? 1 : 2;
    to->whole = bytes;
    to->whole_blocks = count / 64;
    to->blocks = to->whole_blocks + end_blocks;
    memset(to->end, 0, 64 * end_blocks);
    if (rest > 0) memcpy(to->end, bytes + (count - rest), rest);
    to->end[rest] = 0x80;
    const uint64_t bits = __builtin_bswap64((uint64_t)count * 8);
    memcpy(to->end + 64 * end_blocks - 8, &bits, 8);
}

SHA256_INLINE const uint8_t *block(const message *of, size_t index) {
    return index < of->whole_blocks
        ? of->whole + 64 * index : of->end + 64 * (index - of->whole_blocks);
}

SHA256_INLINE state one(state before, const uint8_t *block) {
    words w[4];
    state now = before;
#pragma clang loop unroll(full)
    for (int step = 0; step < 16; step++) {
        const int at = step & 3;
        w[at] = step < 4 ? load_message(block + 16 * step)
            : schedule(w[at], w[(at + 1) & 3], w[(at + 2) & 3], w[(at + 3) & 3]);
        now = rounds(now, w[at], load_constants(constants + 4 * step));
    }
    return add(before, now);
}

SHA256_TARGET
void tidemark_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    message m;
    cut(&m, bytes, count);
    state now = begin(initial);
    for (size_t index = 0; index < m.blocks; index++) now = one(now, block(&m, index));
    finish(now, digest);
}

SHA256_TARGET
void tidemark_sha256_two(
    const uint8_t *first, size_t first_count, const uint8_t *second, size_t second_count,
    uint8_t *digests
) {
    message m, n;
    cut(&m, first, first_count);
    cut(&n, second, second_count);
    state a = begin(initial), b = a;
    size_t index = 0;
    for (; index < m.blocks && index < n.blocks; index++) {
        const uint8_t *p = block(&m, index), *q = block(&n, index);
        const state a_before = a, b_before = b;
        words v[4], w[4];
#pragma clang loop unroll(full)
        for (int step = 0; step < 16; step++) {
            const int at = step & 3, next = (at + 1) & 3, after = (at + 2) & 3, last = (at + 3) & 3;
            const words k = load_constants(constants + 4 * step);
            v[at] = step < 4 ? load_message(p + 16 * step)
                : schedule(v[at], v[next], v[after], v[last]);
            w[at] = step < 4 ? load_message(q + 16 * step)
                : schedule(w[at], w[next], w[after], w[last]);
            a = rounds(a, v[at], k);
            b = rounds(b, w[at], k);
        }
        a = add(a_before, a);
        b = add(b_before, b);
    }
    for (size_t at = index; at < m.blocks; at++) a = one(a, block(&m, at));
    for (size_t at = index; at < n.blocks; at++) b = one(b, block(&n, at));
    finish(a, digests);
    finish(b, digests + 32);
}

#else

int tidemark_has_sha256(void) { return 0; }

void tidemark_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    (void)bytes, (void)count, (void)digest;
    __builtin_trap();
}

void tidemark_sha256_two(
    const uint8_t *first, size_t first_count, const uint8_t *second, size_t second_count,
    uint8_t *digests
) {
    (void)first, (void)first_count, (void)second, (void)second_count, (void)digests;
    __builtin_trap();
}

#endif
