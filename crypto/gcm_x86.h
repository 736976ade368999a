/*
** crypto/gcm_x86.h: AES-GCM (SP 800-38D) by AES and carry-less multiplication instructions, over
** vectors of one, two or four blocks. gcm_aesni.c, gcm_vaes256.c and gcm_vaes512.c define the vector's
** operations and then include this file, once.
**
** They define, as macros or always inlined:
**   BACKEND, TABLE            the back end's name, and that of its table of two ecr_aead
**   vec, LANES                a vector of so many blocks
**   FIRST_COUNTERS            the vector whose lanes are the numbers 1, 2, …
**   load, store               a vector, at any address
**   load_part, store_part     its first n bytes; no others are touched, and those loaded are 0
**   keep(v, n)                its first n bytes, the others 0
**   spread(b), extend(b)      block b in all lanes; in the first, the others 0
**   fold(v)                   the sum of the lanes
**   vadd, vxor                of 32-bit numbers, of bits
**   aes, aes_last             a round
**   clmul(a, b, which)        the products of 64-bit halves of the lanes
**   halves, reverse           the halves of each lane exchanged, its bytes reversed
**
** GHASH takes bits in reflected order: blocks are byte-reversed, and the hash key is multiplied by x
** beforehand, so that a product needs no shift (Gueron, Kounavis, "Intel Carry-Less Multiplication
** Instruction and its Usage for Computing the GCM Mode", 2010). A batch of n blocks is multiplied by
** H^n to H, and reduced once:
**
**     (acc + X1) H^n + X2 H^(n-1) + … + Xn H
**
** The products of the batch before (sealing) or of this one (opening) stand between the rounds of
** AES, which use other parts of the processor. Multiplications are what is scarce: three for a block
** (Karatsuba), with the sum of the halves of each power kept beside it.
*/
#include "cryptoInt.h"

#include <string.h>

#define UNROLL 8 /* vectors of a batch */
#define BLOCKS ((size_t)UNROLL * LANES)
#define WIDTH sizeof(vec)
#define BATCH (UNROLL * WIDTH) /* bytes */

/* Where H^e stands: downwards, so that a batch's powers are read as they are. A batch has BLOCKS of
** them, aligned; one more may stand before and, for the lanes that are behind H, zeros after. */
#define POWERS (2 * LANES + BLOCKS)
#define POWER(e) (LANES + BLOCKS - (size_t)(e))

typedef struct gcm_key {
  _Alignas(64) __m128i power[POWERS];
  __m128i half[POWERS];
  __m128i round[15];
  unsigned rounds;
} gcm_key;

_Static_assert(sizeof(gcm_key) <= ECR_AEAD_CONTEXT, "the context holds a key");

/* ---- GHASH (6.4) -------------------------------------------------------------------------------- */

typedef struct product {
  vec low, middle, high;
} product;

/* Adds x × (the powers from at on). */
INLINE void multiply(product *p, const gcm_key *key, vec x, size_t at) {
  const vec h = load(&key->power[at]), half = load(&key->half[at]);
  p->low = vxor(p->low, clmul(x, h, 0x00));
  p->high = vxor(p->high, clmul(x, h, 0x11));
  p->middle = vxor(p->middle, clmul(vxor(x, halves(x)), half, 0x00));
}

/* Modulo x^128 + x^127 + x^126 + x^121 + 1, the polynomial reflected; 64 bits at a time. */
INLINE __m128i reduce(product p) {
  const __m128i poly = _mm_set_epi64x((long long)0xc200000000000000, 1);
  const __m128i low = fold(p.low), high = fold(p.high);
  __m128i middle = _mm_xor_si128(fold(p.middle), _mm_xor_si128(low, high));
  middle = _mm_xor_si128(middle, _mm_shuffle_epi32(low, 0x4e));
  middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(low, poly, 0x10));
  const __m128i t = _mm_xor_si128(high, _mm_shuffle_epi32(middle, 0x4e));
  return _mm_xor_si128(t, _mm_clmulepi64_si128(middle, poly, 0x10));
}

/* Any number of bytes, padded with zeros to whole blocks. */
static __m128i hash(const gcm_key *key, __m128i acc, const uint8_t *p, size_t n) {
  while (n) {
    size_t now = n < BATCH ? n : BATCH, at = POWER((now + 15) / 16);
    product sum = {0};
    vec first = extend(acc);
    n -= now;
    for (; now >= WIDTH; now -= WIDTH, p += WIDTH, at += LANES) {
      multiply(&sum, key, vxor(first, reverse(load(p))), at);
      first = extend(_mm_setzero_si128());
    }
    if (now) multiply(&sum, key, vxor(first, reverse(load_part(p, now))), at);
    p += now;
    acc = reduce(sum);
  }
  return acc;
}

/* ---- Counter mode (6.5) ------------------------------------------------------------------------- */

INLINE __m128i encrypt_block(const gcm_key *key, __m128i x) {
  x = _mm_xor_si128(x, key->round[0]);
  for (int r = 1; r < 10; r++) x = _mm_aesenc_si128(x, key->round[r]);
  if (key->rounds > 10) {
    for (int r = 10; r < 14; r++) x = _mm_aesenc_si128(x, key->round[r]);
  }
  return _mm_aesenclast_si128(x, key->round[key->rounds]);
}

/* The next counter blocks, in vectors; *counter is byte-reversed, so the number comes first. */
INLINE void counters(const gcm_key *key, vec *counter, vec s[], int vectors) {
  const vec step = spread(_mm_set_epi32(0, 0, 0, LANES)), k = spread(key->round[0]);
  for (int i = 0; i < vectors; i++) {
    s[i] = vxor(reverse(*counter), k);
    *counter = vadd(*counter, step);
  }
}

INLINE void round_of_all(const gcm_key *key, int r, vec s[], int vectors) {
  const vec k = spread(key->round[r]);
  for (int i = 0; i < vectors; i++) s[i] = aes(s[i], k);
}

/* The rounds behind the ninth but the last, which takes the text in: AESENCLAST ends by adding its
** round key, and so may add the text too. */
INLINE void rounds_of_256(const gcm_key *key, vec s[], int vectors) {
  if (key->rounds == 10) return;
  for (int r = 10; r < 14; r++) round_of_all(key, r, s, vectors);
}

/* The i-th product of a batch. */
INLINE void hash_one(const gcm_key *key, product *sum, vec first, const uint8_t *p, size_t i) {
  vec x = reverse(load(p + i * WIDTH));
  if (i == 0) x = vxor(x, first);
  multiply(sum, key, x, POWER(BLOCKS) + i * LANES);
}

INLINE __m128i hash_batch(const gcm_key *key, __m128i acc, const uint8_t *p) {
  product sum = {0};
  for (size_t i = 0; i < UNROLL; i++) hash_one(key, &sum, extend(acc), p, i);
  return reduce(sum);
}

INLINE void last_round(const gcm_key *key, vec s[UNROLL], const uint8_t *in, uint8_t *out) {
  const vec k = spread(key->round[key->rounds]);
  vec text[UNROLL];
  for (size_t i = 0; i < UNROLL; i++) text[i] = vxor(k, load(in + i * WIDTH));
  for (size_t i = 0; i < UNROLL; i++) store(out + i * WIDTH, aes_last(s[i], text[i]));
}

INLINE void crypt_batch(const gcm_key *key, vec *counter, const uint8_t *in, uint8_t *out) {
  vec s[UNROLL];
  counters(key, counter, s, UNROLL);
  for (int r = 1; r < 10; r++) round_of_all(key, r, s, UNROLL);
  rounds_of_256(key, s, UNROLL);
  last_round(key, s, in, out);
}

/* The two in turns. Returns the hash with the batch at hashed, which may be in or what stands before
** out. */
INLINE __m128i crypt_and_hash(const gcm_key *key, vec *counter, const uint8_t *in, uint8_t *out,
                              __m128i acc, const uint8_t *hashed) {
  const vec first = extend(acc);
  product sum = {0};
  vec s[UNROLL];
  counters(key, counter, s, UNROLL);
  round_of_all(key, 1, s, UNROLL);
  hash_one(key, &sum, first, hashed, 0);
  round_of_all(key, 2, s, UNROLL);
  hash_one(key, &sum, first, hashed, 1);
  round_of_all(key, 3, s, UNROLL);
  hash_one(key, &sum, first, hashed, 2);
  round_of_all(key, 4, s, UNROLL);
  hash_one(key, &sum, first, hashed, 3);
  round_of_all(key, 5, s, UNROLL);
  hash_one(key, &sum, first, hashed, 4);
  round_of_all(key, 6, s, UNROLL);
  hash_one(key, &sum, first, hashed, 5);
  round_of_all(key, 7, s, UNROLL);
  hash_one(key, &sum, first, hashed, 6);
  round_of_all(key, 8, s, UNROLL);
  hash_one(key, &sum, first, hashed, 7);
  round_of_all(key, 9, s, UNROLL);
  rounds_of_256(key, s, UNROLL);
  last_round(key, s, in, out);
  return reduce(sum);
}

/* ---- Records (7.1, 7.2) --------------------------------------------------------------------------- */

/* Key stream for so many vectors, a constant. */
INLINE void stream_of(const gcm_key *key, vec counter, vec *out, int vectors) {
  vec s[UNROLL];
  const vec k = spread(key->round[key->rounds]);
  counters(key, &counter, s, vectors);
  for (int r = 1; r < 10; r++) round_of_all(key, r, s, vectors);
  rounds_of_256(key, s, vectors);
  for (int i = 0; i < vectors; i++) out[i] = aes_last(s[i], k);
}

/* The last batch, of 0 to BATCH bytes, and the block of lengths. Whole vectors of key stream are
** made at once, as a few take no longer than one. */
INLINE __m128i finish(const gcm_key *key, vec counter, __m128i acc, __m128i lengths,
                      const uint8_t *in, size_t n, uint8_t *out, int sealing) {
  product sum = {0};
  vec stream[UNROLL], first = extend(acc);
  const vec *s = stream;
  size_t at = POWER((n + 15) / 16 + 1);
  if (n > BATCH / 2) {
    stream_of(key, counter, stream, UNROLL);
  } else if (n > WIDTH) {
    stream_of(key, counter, stream, UNROLL / 2);
  } else if (n) {
    stream_of(key, counter, stream, 1);
  }
  for (; n >= WIDTH; n -= WIDTH, in += WIDTH, out += WIDTH, at += LANES) {
    const vec x = load(in), y = vxor(x, *s++);
    store(out, y);
    multiply(&sum, key, vxor(first, reverse(sealing ? y : x)), at);
    first = extend(_mm_setzero_si128());
  }
  if (n) {
    const vec x = load_part(in, n), y = keep(vxor(x, *s), n);
    store_part(out, y, n);
    multiply(&sum, key, vxor(first, reverse(sealing ? y : x)), at);
    first = extend(_mm_setzero_si128());
  }
  multiply(&sum, key, vxor(first, extend(lengths)), POWER(1));
  return reduce(sum);
}

/* Encrypts (sealing) or decrypts n bytes; the tag of the cipher text. */
INLINE __m128i run(const gcm_key *key, const uint8_t nonce[ECR_NONCE], const uint8_t *aad,
                   size_t aad_size, const uint8_t *in, size_t n, uint8_t *out, int sealing) {
  uint8_t block[16];
  memcpy(block, nonce, ECR_NONCE);
  memcpy(block + ECR_NONCE, "\0\0\0\1", 4);
  const __m128i y0 = _mm_loadu_si128((const __m128i *)(const void *)block);
  const __m128i lengths =
      _mm_set_epi64x((long long)((uint64_t)aad_size * 8), (long long)((uint64_t)n * 8));
  const __m128i mask = encrypt_block(key, y0);
  vec counter = vadd(spread(reverse_block(y0)), FIRST_COUNTERS);
  __m128i acc = hash(key, _mm_setzero_si128(), aad, aad_size);

  if (n > BATCH) {
    const uint8_t *hashed = in;
    if (sealing) {
      crypt_batch(key, &counter, in, out);
      hashed = out;
      n -= BATCH, in += BATCH, out += BATCH;
    }
    for (; n > BATCH; n -= BATCH, in += BATCH, out += BATCH, hashed += BATCH) {
      acc = crypt_and_hash(key, &counter, in, out, acc, hashed);
    }
    if (sealing) acc = hash_batch(key, acc, hashed);
  }
  acc = finish(key, counter, acc, lengths, in, n, out, sealing);
  return _mm_xor_si128(mask, reverse_block(acc));
}

static ecr_status seal(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  const gcm_key *key = (const gcm_key *)(const void *)context->bytes;
  const ecr_status status = ecr_gcm_check_seal(n, out_size);
  if (status) return status;
  const __m128i tag = run(key, nonce, aad, aad_size, in, n, out, 1);
  _mm_storeu_si128((__m128i *)(void *)(out + n), tag);
  return ECR_OK;
}

static ecr_status open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  const gcm_key *key = (const gcm_key *)(const void *)context->bytes;
  const ecr_status status = ecr_gcm_check_open(n, out_size);
  if (status) return status;
  n -= ECR_TAG;
  /* In place, and with all of out in use, nothing is written over the tag. */
  const __m128i expected = _mm_loadu_si128((const __m128i *)(const void *)(in + n));
  const __m128i tag = run(key, nonce, aad, aad_size, in, n, out, 0);
  int refused = _mm_movemask_epi8(_mm_cmpeq_epi8(tag, expected)) != 0xffff;
  /* Whoever sent the record learns whether it was taken. */
  ecr_declassify(&refused, sizeof refused);
  if (!refused) return ECR_OK;
  if (n) memset(out, 0, n);
  return ECR_REFUSED;
}

/* ---- Keys --------------------------------------------------------------------------------------- */

/* H × x (see the head), H's bytes reversed: the bit that falls out comes back as the polynomial. */
static __m128i times_x(__m128i h) {
  const __m128i poly = _mm_set_epi64x((long long)0xc200000000000000, 1);
  const __m128i carries = _mm_srli_epi64(h, 63);
  const __m128i out = _mm_shuffle_epi32(_mm_srai_epi32(h, 31), 0xff);
  const __m128i shifted = _mm_or_si128(_mm_slli_epi64(h, 1), _mm_slli_si128(carries, 8));
  return _mm_xor_si128(shifted, _mm_and_si128(out, poly));
}

static void set_power(gcm_key *key, size_t e, __m128i h) {
  key->power[POWER(e)] = h;
  key->half[POWER(e)] = _mm_xor_si128(h, _mm_shuffle_epi32(h, 0x4e));
}

static ecr_status init(ecr_aead_context *context, const uint8_t *bytes, size_t key_size) {
  gcm_key *key = (gcm_key *)(void *)context->bytes;
  uint8_t round[15][16];
  memset(key, 0, sizeof *key);
  ecr_aes_expand(round, &key->rounds, bytes, key_size);
  memcpy(key->round, round, 16 * ((size_t)key->rounds + 1));
  ecr_wipe(round, sizeof round);

  __m128i h = times_x(reverse_block(encrypt_block(key, _mm_setzero_si128())));
  set_power(key, 1, h);
  for (size_t e = 2; e <= BLOCKS + 1; e++) {
    product p = {0};
    multiply(&p, key, extend(h), POWER(1));
    h = reduce(p);
    set_power(key, e, h);
  }
  return ECR_OK;
}

static ecr_status init_128(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 16);
}

static ecr_status init_256(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 32);
}

static void clear(ecr_aead_context *context) { ecr_wipe(context, sizeof(gcm_key)); }

const ecr_aead TABLE[2] = {
    {"aes128gcm", BACKEND, 16, sizeof(gcm_key), init_128, seal, open, clear},
    {"aes256gcm", BACKEND, 32, sizeof(gcm_key), init_256, seal, open, clear},
};
