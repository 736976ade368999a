/*
** crypto/rsa_private.c: RSA-OAEP decryption (RFC 8017 7.1.2).
**
** c^d is found modulo p and modulo q and joined (5.1.2). Modulo p, with a random r,
**
**     c^dp  =  (c × r)^dp × r^(p - 1 - dp)
**
** since r^(p-1) is 1: the base of every power is blinded, and no inverse of r is needed. Both share
** their squarings, with a table of 16 powers each, of which every entry is read each time. The result m
** is given out only if m^e is c, so that a fault in one half can not tell the primes.
**
** What depends on the key or on m is selected with masks up to the end: a ciphertext that is not
** right takes the same steps as one that is.
*/
#include <string.h>

#include "cryptoInt.h"

#define MAX_BYTES (ECR_RSA_MAX_BITS / 8)
#define HALF_LIMBS (ECR_BN_LIMBS / 2)
#define WINDOW 4

/* The powers of one base, from the 0th. */
typedef struct powers {
  uint64_t of[1 << WINDOW][HALF_LIMBS];
} powers;

/* One prime's half of the key. */
typedef struct half {
  ecr_mont m; /* modulo the prime */
  uint64_t exponent[HALF_LIMBS];
  uint64_t result[HALF_LIMBS]; /* in Montgomery's form */
} half;

typedef struct work {
  size_t k; /* limbs of each half; twice as many for n */
  half p, q;
  ecr_mont n;
  powers blinded, blind;
  uint64_t picked[HALF_LIMBS], complement[HALF_LIMBS];
  uint64_t c[ECR_BN_LIMBS], m[ECR_BN_LIMBS], again[ECR_BN_LIMBS], random[ECR_BN_LIMBS];
  uint64_t qinv[HALF_LIMBS], h[HALF_LIMBS];
  uint8_t em[MAX_BYTES];
} work;

/* ---- The private operation ------------------------------------------------------------------------ */

/* r = table[index], reading all. k is even. */
static void pick(uint64_t *r, const powers *table, uint64_t index, size_t k) {
  uint64_t masks[1 << WINDOW];
  for (uint64_t i = 0; i < 1 << WINDOW; i++) masks[i] = ecr_mask_zero(i ^ index);
  for (size_t j = 0; j < k; j += 2) {
    uint64_t r0 = 0, r1 = 0;
    for (size_t i = 0; i < 1 << WINDOW; i++) {
      r0 |= table->of[i][j] & masks[i];
      r1 |= table->of[i][j + 1] & masks[i];
    }
    r[j] = r0;
    r[j + 1] = r1;
  }
  ecr_wipe(masks, sizeof masks);
}

/* From the 0th and the 1st, in Montgomery's form. */
static void fill(ecr_mont *m, powers *table) {
  for (int i = 2; i < 1 << WINDOW; i++) {
    if (i & 1) {
      ecr_mont_mul(m, table->of[i], table->of[i - 1], table->of[1]);
    } else {
      ecr_mont_sqr(m, table->of[i], table->of[i / 2]);
    }
  }
}

/* h->result = c^exponent, blinded with the random limbs. */
static void power(work *w, half *h, const uint64_t *random) {
  const size_t k = w->k;
  ecr_mont *m = &h->m;
  uint64_t *x = h->result;
  ecr_mont_init(m);

  /* reduce(c) is c / R, of which rr makes c and then c × R. */
  ecr_mont_mul(m, w->blind.of[1], random, m->rr);
  ecr_mont_reduce(m, x, w->c);
  ecr_mont_mul(m, x, x, m->rr);
  ecr_mont_mul(m, x, x, m->rr);
  ecr_mont_mul(m, w->blinded.of[1], x, w->blind.of[1]);
  memset(w->picked, 0, k * sizeof *x);
  w->picked[0] = 1;
  ecr_mont_mul(m, x, w->picked, m->rr);
  memcpy(w->blinded.of[0], x, k * sizeof *x);
  memcpy(w->blind.of[0], x, k * sizeof *x);
  fill(m, &w->blinded);
  fill(m, &w->blind);

  /* p - 1 - dp; p is odd. */
  memcpy(w->picked, m->n, k * sizeof *x);
  w->picked[0] ^= 1;
  (void)ecr_bn_sub(w->complement, w->picked, h->exponent, k);

  for (size_t bit = 64 * k; bit > 0;) {
    bit -= WINDOW;
    for (int i = 0; i < WINDOW; i++) ecr_mont_sqr(m, x, x);
    pick(w->picked, &w->blinded, h->exponent[bit / 64] >> bit % 64 & 15, k);
    ecr_mont_mul(m, x, x, w->picked);
    pick(w->picked, &w->blind, w->complement[bit / 64] >> bit % 64 & 15, k);
    ecr_mont_mul(m, x, x, w->picked);
  }
}

/* m = c^d mod n. All ones where m^e is c, else 0. */
static uint64_t private_operation(work *w, uint32_t e) {
  const size_t k = w->k;
  ecr_mont *p = &w->p.m, *q = &w->q.m;
  power(w, &w->p, w->random);
  power(w, &w->q, w->random + k);

  /* m2 = result of q out of Montgomery's form; h = (m1 - m2) × qinv mod p; m = m2 + q × h. */
  memset(w->m, 0, 2 * k * sizeof *w->m);
  memcpy(w->m, w->q.result, k * sizeof *w->m);
  ecr_mont_reduce(q, w->h, w->m);
  ecr_mont_mul(p, w->picked, w->h, p->rr);
  uint64_t borrow = ecr_bn_sub(w->picked, w->p.result, w->picked, k);
  (void)ecr_bn_add_masked(w->picked, p->n, 0 - borrow, k);
  ecr_mont_mul(p, w->picked, w->picked, w->qinv);
  ecr_bn_mul(w->m, q->n, w->picked, k);
  uint64_t carry = ecr_bn_add_masked(w->m, w->h, UINT64_MAX, k);
  for (size_t i = k; i < 2 * k; i++) w->m[i] = ecr_add(w->m[i], 0, &carry);

  ecr_mont_exp_public(&w->n, w->again, w->m, e);
  uint64_t differ = 0;
  for (size_t i = 0; i < w->n.k; i++) differ |= w->again[i] ^ w->c[i];
  return ecr_mask_zero(differ);
}

/* ---- The key -------------------------------------------------------------------------------------- */

/* Loads the key into w. ECR_INVALID where it is not one: that, but nothing else of it, shows. */
static ecr_status load_key(work *w, const ecr_rsa_private *key, const ecr_rsa_modulus *modulus) {
  const size_t k = ((modulus->bits + 1) / 2 + 127) / 128 * 2;
  uint64_t bad = 0;
  w->k = w->p.m.k = w->q.m.k = k;
  w->n.k = 2 * k;
  (void)ecr_bn_load(w->n.n, 2 * k, modulus->n, modulus->size);
  bad |= ecr_bn_load(w->p.m.n, k, key->p, key->p_size);
  bad |= ecr_bn_load(w->q.m.n, k, key->q, key->q_size);
  bad |= ecr_bn_load(w->p.exponent, k, key->dp, key->dp_size);
  bad |= ecr_bn_load(w->q.exponent, k, key->dq, key->dq_size);
  bad |= ecr_bn_load(w->qinv, k, key->qinv, key->qinv_size);
  bad |= ~ecr_bn_less(w->p.exponent, w->p.m.n, k);
  bad |= ~ecr_bn_less(w->q.exponent, w->q.m.n, k);
  bad |= ~ecr_bn_less(w->qinv, w->p.m.n, k);
  bad |= ~w->p.m.n[0] & 1;
  bad |= ~w->q.m.n[0] & 1;
  ecr_bn_mul(w->m, w->p.m.n, w->q.m.n, k);
  for (size_t i = 0; i < 2 * k; i++) bad |= w->m[i] ^ w->n.n[i];
  bad = ecr_mask_nonzero(bad);
  ecr_declassify(&bad, sizeof bad);
  return bad ? ECR_INVALID : ECR_OK;
}

/* ---- The padding ---------------------------------------------------------------------------------- */

/* RFC 8017 7.1.2, step 3. Moves the message to the front of out, zeros behind it. All ones where the
** padding is right and ok is, else 0, and zeros are written. Every byte of em is looked at, and
** the message moved by steps of powers of two, whatever em holds. */
static uint64_t unpad(uint8_t *em, size_t size, const ecr_hash *hash, uint64_t ok, uint8_t *out,
                      uint64_t *written) {
  uint8_t empty[ECR_HASH_MAX];
  uint8_t *seed = em + 1, *db = seed + hash->size;
  const size_t db_size = size - 1 - hash->size;
  ecr_hash_context context;
  ecr_mgf1_xor(hash, db, db_size, seed, hash->size);
  ecr_mgf1_xor(hash, seed, hash->size, db, db_size);
  hash->init(&context);
  hash->digest(&context, empty);

  uint64_t differ = em[0], searching = UINT64_MAX, start = 0;
  for (size_t i = 0; i < hash->size; i++) differ |= (uint64_t)(db[i] ^ empty[i]);
  /* Zeros, then 01: searching is all ones up to it. */
  for (size_t i = hash->size; i < db_size; i++) {
    const uint64_t is_one = ecr_mask_zero(db[i] ^ 1U), is_zero = ecr_mask_zero(db[i]);
    differ |= searching & ~(is_one | is_zero);
    start |= searching & is_one & (i + 1);
    searching &= ~is_one;
  }
  ok &= ecr_mask_zero(differ) & ~searching;

  *written = (db_size - start) & ok;
  for (size_t step = 1; step <= db_size; step <<= 1) {
    const uint8_t mask = (uint8_t)ecr_mask_nonzero(start & step);
    for (size_t i = 0; i < db_size; i++) {
      const uint8_t from = i + step < db_size ? db[i + step] : 0;
      db[i] = (uint8_t)((db[i] & ~mask) | (from & mask));
    }
  }
  for (size_t i = 0; i < size; i++) out[i] = i < db_size ? (uint8_t)(db[i] & ok) : 0;
  return ok;
}

ecr_status ecr_rsa_oaep_decrypt(const ecr_rsa_private *key, const ecr_hash *hash, const uint8_t *in,
                                size_t n, uint8_t *out, size_t out_size, size_t *written) {
  ecr_rsa_modulus modulus;
  uint64_t ok, length;
  work w;
  *written = 0;
  ecr_status status = ecr_rsa_check(&key->public_key, &modulus);
  if (status) return status;
  if (out_size < modulus.size) return ECR_SHORT;
  if (n != modulus.size) {
    memset(out, 0, modulus.size);
    return ECR_REFUSED;
  }
  status = load_key(&w, key, &modulus);
  if (status) goto done;
  status = ecr_random(w.random, 2 * w.k * sizeof *w.random);
  if (status) goto done;
  (void)ecr_bn_load(w.c, 2 * w.k, in, n);
  if (ecr_bn_less(w.c, w.n.n, 2 * w.k)) {
    ecr_mont_init_public(&w.n);
    ok = private_operation(&w, modulus.e);
    ecr_bn_store(w.em, n, w.m, 2 * w.k);
    ok = unpad(w.em, n, hash, ok, out, &length);
    *written = (size_t)length;
    status = (ecr_status)(ECR_REFUSED & ~ok);
  } else {
    memset(out, 0, modulus.size);
    status = ECR_REFUSED;
  }
done:
  ecr_wipe(&w, sizeof w);
  return status;
}
