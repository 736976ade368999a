/*
** crypto/aes_portable.c: AES (FIPS 197) without tables: bit b of every byte of four blocks is one
** 64-bit word, and the S-box is a circuit of 115 gates over the eight words (Boyar, Peralta, "A depth-16
** circuit for the AES S-box", 2011).
**
** In a word, the bit of row r, column c of block k stands at 16 r + 4 c + k. ShiftRows is never done:
** the state of round r is kept with ShiftRows undone r times, and MixColumns and the round keys are
** made to fit (Adomnicai, Peyrin, "Fixslicing AES-like ciphers", 2021). As ShiftRows four times is the
** identity, there are four kinds of MixColumns.
**
** Where the compiler has vectors, a word is two words side by side, of blocks 0-3 and 4-7.
*/
#include "cryptoInt.h"

#include <string.h>

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(ECR_NO_VECTORS)
#define LANES 2
typedef uint64_t word __attribute__((vector_size(16)));
typedef uint16_t row_vector __attribute__((vector_size(16)));
typedef uint8_t byte_vector __attribute__((vector_size(16)));
#ifdef __clang__
#define SHUFFLE(type, a, b, ...) ((word)__builtin_shufflevector((type)(a), (type)(b), __VA_ARGS__))
#else
#define SHUFFLE(type, a, b, ...)                                                                   \
  ((word)__builtin_shuffle((type)(a), (type)(b), (type){__VA_ARGS__}))
#endif
#else
#define LANES 1
typedef uint64_t word;
#endif
#define BLOCKS ((size_t)4 * LANES)

#define INLINE static inline __attribute__((always_inline))

/* ---- To and from words ----------------------------------------------------------------------- */

/* Exchanges the bits of a that mask << shift selects with those of b that mask does. */
INLINE void swap_bits(word *a, word *b, int shift, uint64_t mask) {
  word t = ((*a >> shift) ^ *b) & mask;
  *b ^= t;
  *a ^= t << shift;
}

/* Bit i of byte p of word j becomes bit j of byte p of word i. Its own inverse. */
INLINE void transpose(word q[8]) {
  for (int i = 0; i < 8; i += 2) swap_bits(&q[i], &q[i + 1], 1, 0x5555555555555555);
  for (int i = 0; i < 8; i += 4) {
    swap_bits(&q[i], &q[i + 2], 2, 0x3333333333333333);
    swap_bits(&q[i + 1], &q[i + 3], 2, 0x3333333333333333);
  }
  for (int i = 0; i < 4; i++) swap_bits(&q[i], &q[i + 4], 4, 0x0f0f0f0f0f0f0f0f);
}

/* Before the transposition, word k holds columns 0 and 2 of block k, byte by byte in turns, and
** word 4 + k columns 1 and 3. */
#if LANES == 2

INLINE void load(word q[8], const uint8_t *p) {
  for (int k = 0; k < 4; k++) {
    word a, b;
    memcpy(&a, p + 16 * k, 16);
    memcpy(&b, p + 16 * (k + 4), 16);
    a = SHUFFLE(byte_vector, a, a, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    b = SHUFFLE(byte_vector, b, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    q[k] = SHUFFLE(word, a, b, 0, 2);
    q[k + 4] = SHUFFLE(word, a, b, 1, 3);
  }
  transpose(q);
}

INLINE void store(uint8_t *p, word q[8]) {
  transpose(q);
  for (int k = 0; k < 4; k++) {
    word a = SHUFFLE(word, q[k], q[k + 4], 0, 2), b = SHUFFLE(word, q[k], q[k + 4], 1, 3);
    a = SHUFFLE(byte_vector, a, a, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    b = SHUFFLE(byte_vector, b, b, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    memcpy(p + 16 * k, &a, 16);
    memcpy(p + 16 * (k + 4), &b, 16);
  }
}

#else

static uint64_t load_column(const uint8_t *p) {
  return (uint64_t)p[0] | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 32 | (uint64_t)p[3] << 48;
}

static void store_column(uint8_t *p, uint64_t v) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (16 * i));
}

static void load(word q[8], const uint8_t *p) {
  for (int k = 0; k < 4; k++, p += 16) {
    q[k] = load_column(p) | load_column(p + 8) << 8;
    q[k + 4] = load_column(p + 4) | load_column(p + 12) << 8;
  }
  transpose(q);
}

static void store(uint8_t *p, word q[8]) {
  transpose(q);
  for (int k = 0; k < 4; k++, p += 16) {
    store_column(p, q[k]);
    store_column(p + 4, q[k + 4]);
    store_column(p + 8, q[k] >> 8);
    store_column(p + 12, q[k + 4] >> 8);
  }
}

#endif

/* ---- SubBytes --------------------------------------------------------------------------------- */

/* Without the constant 63 at its end, which the round keys have taken up: a state of nothing but 63
** passes ShiftRows and MixColumns unchanged. Names as in the paper. */
INLINE void sub_bytes(word q[8]) {
  word x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];

  word y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5;
  word t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14;
  word y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12;
  word y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0;
  word y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
  word y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;

  word t2 = y12 & y15, t3 = y3 & y6, t4 = t3 ^ t2, t5 = y4 & x7, t6 = t5 ^ t2;
  word t7 = y13 & y16, t8 = y5 & y1, t9 = t8 ^ t7, t10 = y2 & y7, t11 = t10 ^ t7;
  word t12 = y9 & y11, t13 = y14 & y17, t14 = t13 ^ t12, t15 = y8 & y10, t16 = t15 ^ t12;
  word t17 = t4 ^ t14, t18 = t6 ^ t16, t19 = t9 ^ t14, t20 = t11 ^ t16;
  word t21 = t17 ^ y20, t22 = t18 ^ y19, t23 = t19 ^ y21, t24 = t20 ^ y18;

  word t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t28 = t25 & t27, t29 = t28 ^ t22;
  word t30 = t23 ^ t24, t31 = t22 ^ t26, t32 = t31 & t30, t33 = t32 ^ t24, t34 = t23 ^ t33;
  word t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36, t39 = t29 & t38;
  word t40 = t25 ^ t39, t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37;
  word t45 = t42 ^ t41;

  word z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1;
  word z5 = t29 & y7, z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12;
  word z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2;
  word z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;

  word t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12;
  word t51 = z2 ^ z5, t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17;
  word t56 = z12 ^ t48, t57 = t50 ^ t53, t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57;
  word t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58, t64 = z4 ^ t59, t65 = t61 ^ t62;
  word t66 = z1 ^ t63, t67 = t64 ^ t65, s3 = t53 ^ t66;

  q[7] = t59 ^ t63;
  q[6] = t64 ^ s3;
  q[5] = t55 ^ t67;
  q[4] = s3;
  q[3] = t51 ^ t66;
  q[2] = t47 ^ t65;
  q[1] = t56 ^ t62;
  q[0] = t48 ^ t60;
}

/* The linear part of the S-box, undone: bit i of the result is the sum of bits i + 2, i + 5, i + 7. */
INLINE void undo_affine(word q[8]) {
  word t[8];
  for (int i = 0; i < 8; i++) t[i] = q[(i + 2) & 7] ^ q[(i + 5) & 7] ^ q[(i + 7) & 7];
  for (int i = 0; i < 8; i++) q[i] = t[i];
}

/* As the S-box is the affine map of the inverse and the inverse is its own: L'(S(L'(x))), L' being
** the linear map undone. The constants are in the round keys. */
INLINE void inverse_sub_bytes(word q[8]) {
  undo_affine(q);
  sub_bytes(q);
  undo_affine(q);
}

/* ---- MixColumns -------------------------------------------------------------------------------- */

/* What stands so many rows further down (1 or 2) and columns to the right (0 to 3). */
INLINE word neighbour(word x, int rows, int columns) {
#if LANES == 2
  if (rows == 1) x = SHUFFLE(row_vector, x, x, 1, 2, 3, 0, 5, 6, 7, 4);
  if (rows == 2) x = SHUFFLE(row_vector, x, x, 2, 3, 0, 1, 6, 7, 4, 5);
  if (columns == 0) return x;
  return (word)((row_vector)x >> 4 * columns | (row_vector)x << (16 - 4 * columns));
#else
  x = x >> 16 * rows | x << (64 - 16 * rows);
  if (columns == 0) return x;
  uint64_t right = (0xffffu >> 4 * columns) * UINT64_C(0x0001000100010001);
  return (x >> 4 * columns & right) | (x << (16 - 4 * columns) & ~right);
#endif
}

/* FIPS 197 5.1.3 with a, b, c, d the bytes from this row on: 2(a + b) + b + (c + d). */
INLINE void mix_columns(word q[8], int kind) {
  word b[8], sum[8];
  for (int i = 0; i < 8; i++) b[i] = neighbour(q[i], 1, kind);
  for (int i = 0; i < 8; i++) sum[i] = q[i] ^ b[i];
  for (int i = 0; i < 8; i++) q[i] = b[i] ^ neighbour(sum[i], 2, 2 * kind & 3) ^ sum[(i + 7) & 7];
  q[1] ^= sum[7];
  q[3] ^= sum[7];
  q[4] ^= sum[7];
}

/* 5.3.3: MixColumns of a + 4(a + c). */
INLINE void inverse_mix_columns(word q[8], int kind) {
  word t[8];
  for (int i = 0; i < 8; i++) t[i] = q[i] ^ neighbour(q[i], 2, 2 * kind & 3);
  for (int i = 0; i < 8; i++) q[i] ^= t[(i + 6) & 7];
  q[1] ^= t[6];
  q[2] ^= t[7];
  q[3] ^= t[6];
  q[4] ^= t[6] ^ t[7];
  q[5] ^= t[7];
  mix_columns(q, kind);
}

/* ShiftRows so many times. */
INLINE word shift_rows(word x, int times) {
  for (int i = 0; i < (times & 3); i++) {
    x = (x & 0x000000000000ffff) | (x >> 4 & 0x000000000fff0000) | (x << 12 & 0x00000000f0000000) |
        (x >> 8 & 0x000000ff00000000) | (x << 8 & 0x0000ff0000000000) |
        (x >> 12 & 0x000f000000000000) | (x << 4 & 0xfff0000000000000);
  }
  return x;
}

/* ---- Rounds ------------------------------------------------------------------------------------ */

INLINE void add_round_key(word q[8], const uint64_t key[8]) {
#if LANES == 2
  for (int i = 0; i < 8; i++) q[i] ^= (word){key[i], key[i]};
#else
  for (int i = 0; i < 8; i++) q[i] ^= key[i];
#endif
}

static void encrypt(const ecr_aes_key *key, word q[8]) {
  const uint64_t(*k)[8] = key->sliced;
  unsigned r = 0;
  add_round_key(q, k[0]);
  for (;;) {
    sub_bytes(q);
    mix_columns(q, 1);
    add_round_key(q, k[r + 1]);
    if (r + 2 == key->rounds) break;
    sub_bytes(q);
    mix_columns(q, 2);
    add_round_key(q, k[r + 2]);
    sub_bytes(q);
    mix_columns(q, 3);
    add_round_key(q, k[r + 3]);
    sub_bytes(q);
    mix_columns(q, 0);
    add_round_key(q, k[r + 4]);
    r += 4;
  }
  sub_bytes(q);
  add_round_key(q, k[r + 2]);
  for (int i = 0; i < 8; i++) q[i] = shift_rows(q[i], 2); /* 10 and 14 rounds: 2 modulo 4 */
}

static void decrypt(const ecr_aes_key *key, word q[8]) {
  const uint64_t(*k)[8] = key->sliced;
  unsigned r = key->rounds;
  for (int i = 0; i < 8; i++) q[i] = shift_rows(q[i], 2);
  add_round_key(q, k[r]);
  inverse_sub_bytes(q);
  while (--r > 0) {
    add_round_key(q, k[r]);
    switch (r & 3) {
    case 0:
      inverse_mix_columns(q, 0);
      break;
    case 1:
      inverse_mix_columns(q, 1);
      break;
    case 2:
      inverse_mix_columns(q, 2);
      break;
    default:
      inverse_mix_columns(q, 3);
    }
    inverse_sub_bytes(q);
  }
  add_round_key(q, k[0]);
}

/* Runs fewer blocks than fit through a buffer. */
static void some_blocks(void (*run)(const ecr_aes_key *, word[8]), const ecr_aes_key *key,
                        const uint8_t *in, uint8_t *out, size_t blocks) {
  uint8_t buffer[16 * BLOCKS] = {0};
  word q[8];
  memcpy(buffer, in, 16 * blocks);
  load(q, buffer);
  run(key, q);
  store(buffer, q);
  memcpy(out, buffer, 16 * blocks);
}

void ecr_aes_portable_encrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                              size_t blocks) {
  for (; blocks >= BLOCKS; blocks -= BLOCKS, in += 16 * BLOCKS, out += 16 * BLOCKS) {
    word q[8];
    load(q, in);
    encrypt(key, q);
    store(out, q);
  }
  if (blocks) some_blocks(encrypt, key, in, out, blocks);
}

void ecr_aes_portable_decrypt(const ecr_aes_key *key, const uint8_t *in, uint8_t *out,
                              size_t blocks) {
  for (; blocks >= BLOCKS; blocks -= BLOCKS, in += 16 * BLOCKS, out += 16 * BLOCKS) {
    word q[8];
    load(q, in);
    decrypt(key, q);
    store(out, q);
  }
  if (blocks) some_blocks(decrypt, key, in, out, blocks);
}

/* ---- Keys -------------------------------------------------------------------------------------- */

void ecr_aes_portable_sub_word(uint8_t p[4]) {
  uint8_t buffer[16 * BLOCKS] = {0};
  word q[8];
  memcpy(buffer, p, 4);
  load(q, buffer);
  sub_bytes(q);
  store(buffer, q);
  for (int i = 0; i < 4; i++) p[i] = buffer[i] ^ 0x63;
}

void ecr_aes_portable_slice(ecr_aes_key *key) {
  uint8_t buffer[16 * BLOCKS];
  word q[8];
  for (unsigned r = 0; r <= key->rounds; r++) {
    for (size_t k = 0; k < BLOCKS; k++) {
      for (size_t i = 0; i < 16; i++) buffer[16 * k + i] = key->round[r][i] ^ (r ? 0x63 : 0);
    }
    load(q, buffer);
    for (int i = 0; i < 8; i++) {
      word w = shift_rows(q[i], -(int)r);
      memcpy(&key->sliced[r][i], &w, 8);
    }
  }
}
