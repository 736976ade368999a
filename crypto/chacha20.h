/*
** crypto/chacha20.h: LANES blocks of ChaCha20 (RFC 8439 2.3) at once. chacha20poly1305.c includes it for
** each width, with these defined:
**
**   LANES      1, or as many as a vector of this width has numbers of 32 bits
**   NAME       the function's
**   TARGET     its attribute
**
** A vector holds the same word of all blocks.
*/
TARGET static void NAME(const uint32_t state[16], uint8_t *out) {
#if LANES > 1
  typedef uint32_t vec __attribute__((vector_size(4 * LANES)));
#else
  typedef uint32_t vec;
#endif
  vec x[16], start[16];
  uint32_t count[LANES], words[16][LANES];
  for (uint32_t i = 0; i < LANES; i++) count[i] = i;
  for (int i = 0; i < 16; i++) start[i] = (vec){0} + state[i];
  memcpy(&x[12], count, sizeof count);
  start[12] += x[12];
  for (int i = 0; i < 16; i++) x[i] = start[i];

#define ROTATE(v, n) v = v << (n) | v >> (32 - (n))
#define QUARTER(a, b, c, d)                                                                        \
  x[a] += x[b], x[d] ^= x[a], ROTATE(x[d], 16), x[c] += x[d], x[b] ^= x[c], ROTATE(x[b], 12),      \
      x[a] += x[b], x[d] ^= x[a], ROTATE(x[d], 8), x[c] += x[d], x[b] ^= x[c], ROTATE(x[b], 7)
  for (int i = 0; i < 10; i++) {
    QUARTER(0, 4, 8, 12);
    QUARTER(1, 5, 9, 13);
    QUARTER(2, 6, 10, 14);
    QUARTER(3, 7, 11, 15);
    QUARTER(0, 5, 10, 15);
    QUARTER(1, 6, 11, 12);
    QUARTER(2, 7, 8, 13);
    QUARTER(3, 4, 9, 14);
  }
#undef QUARTER
#undef ROTATE

  for (int i = 0; i < 16; i++) {
    x[i] += start[i];
    memcpy(words[i], &x[i], sizeof words[i]);
  }
  for (int block = 0; block < LANES; block++) {
    for (int i = 0; i < 16; i++, out += 4) store_little(out, words[i][block]);
  }
}
#undef LANES
#undef NAME
#undef TARGET
