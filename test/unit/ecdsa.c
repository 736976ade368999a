/*
** ecdsa.c: ECDSA verification: RFC 6979's signatures, forms that DER does not have, numbers out of range,
** keys for which the sum of u1 × G and u2 × Q meets its exceptions, and libcrypto's signatures.
**
** also: nou128
*/
#include "curve_peer.h"
#include "curve_facts.h"
#include "crypto/cryptoInt.h"

#define POINT ECR_EC_POINT_MAX
#define SIZE ECR_EC_SCALAR_MAX
#define SIGNATURE 256

typedef struct der {
  uint8_t p[SIGNATURE];
  size_t n;
} der;

static void add(der *d, const void *p, size_t n) {
  memcpy(d->p + d->n, p, n);
  d->n += n;
}

/* Tag, length of one byte, content. */
static void put(der *d, int tag, const void *p, size_t n) {
  uint8_t head[2] = {(uint8_t)tag, (uint8_t)n};
  add(d, head, 2);
  add(d, p, n);
}

static void put_integer(der *d, const uint8_t *p, size_t n) {
  uint8_t content[SIZE + 2] = {0};
  while (n > 1 && *p == 0) p++, n--;
  memcpy(content + 1, p, n);
  if (p[0] & 0x80) {
    put(d, 2, content, n + 1);
  } else {
    put(d, 2, content + 1, n);
  }
}

static der encoded(const uint8_t *r, size_t r_size, const uint8_t *s, size_t s_size) {
  der in = {{0}, 0}, out = {{0}, 0};
  put_integer(&in, r, r_size);
  put_integer(&in, s, s_size);
  put(&out, 0x30, in.p, in.n);
  return out;
}

typedef struct fixture {
  const facts *f;
  size_t size, point_size, hash_size;
  uint8_t point[POINT], hash[ECR_HASH_MAX], r[SIZE], s[SIZE];
} fixture;

static int verify(const fixture *x, const der *d) {
  return (int)ecr_ecdsa_verify(x->f->curve, x->point, x->point_size, x->hash, x->hash_size, d->p,
                               d->n);
}

static fixture fixture_of(const facts *f, const signature *s) {
  fixture x = {
      f, ecr_ec_size(f->curve), 2 * ecr_ec_size(f->curve) + 1, s->hash->size, {4}, {0}, {0}, {0}};
  ecr_hash_context context;
  memcpy(x.point + 1, hex(f->qx).p, x.size);
  memcpy(x.point + 1 + x.size, hex(f->qy).p, x.size);
  memcpy(x.r, hex(s->r).p, x.size);
  memcpy(x.s, hex(s->s).p, x.size);
  s->hash->init(&context);
  s->hash->update(&context, s->message, strlen(s->message));
  s->hash->digest(&context, x.hash);
  return x;
}

/* ---- RFC 6979 ------------------------------------------------------------------------------------------ */

static void test_rfc6979(const facts *f) {
  for (size_t i = 0; i < sizeof(f->signatures) / sizeof(f->signatures[0]); i++) {
    fixture x = fixture_of(f, &f->signatures[i]);
    der d = encoded(x.r, x.size, x.s, x.size);
    CHECK_INT(verify(&x, &d), ECR_OK);
    for (size_t j = 0; j < 8 * x.hash_size; j++) {
      x.hash[j / 8] ^= (uint8_t)(1 << j % 8);
      CHECK_INT(verify(&x, &d), j / 8 < x.size ? ECR_REFUSED : ECR_OK);
      x.hash[j / 8] ^= (uint8_t)(1 << j % 8);
    }
    /* The hash's right end beyond the order counts for nothing; a byte less on the left is another hash. */
    if (x.hash_size > x.size) x.hash_size = x.size;
    CHECK_INT(verify(&x, &d), ECR_OK);
    x.hash_size--;
    CHECK_INT(verify(&x, &d), ECR_REFUSED);
    x.hash_size = 0;
    CHECK_INT(verify(&x, &d), ECR_REFUSED);
  }
}

static void test_bits(const facts *f) {
  fixture x = fixture_of(f, &f->signatures[2]);
  der d = encoded(x.r, x.size, x.s, x.size);
  for (size_t i = 0; i < 8 * d.n; i++) {
    d.p[i / 8] ^= (uint8_t)(1 << i % 8);
    CHECK_INT(verify(&x, &d), ECR_REFUSED);
    d.p[i / 8] ^= (uint8_t)(1 << i % 8);
  }
  for (size_t i = 0; i < 8 * x.point_size; i++) {
    x.point[i / 8] ^= (uint8_t)(1 << i % 8);
    CHECK_INT(verify(&x, &d), ECR_INVALID);
    x.point[i / 8] ^= (uint8_t)(1 << i % 8);
  }
  for (size_t i = 0; i < POINT; i++) {
    if (i == x.point_size) continue;
    fixture y = x;
    y.point_size = i;
    CHECK_INT(verify(&y, &d), ECR_INVALID);
  }
  /* -Q: another key. */
  memcpy(x.point + 1 + x.size, hex(f->p).p, x.size);
  int borrow = 0;
  bytes qy = hex(f->qy);
  for (size_t i = x.size; i-- > 0;) {
    borrow += x.point[1 + x.size + i] - qy.p[i];
    x.point[1 + x.size + i] = (uint8_t)borrow;
    borrow >>= 8;
  }
  CHECK_INT(verify(&x, &d), ECR_REFUSED);
}

/* ---- DER ------------------------------------------------------------------------------------------------- */

static void test_der(const facts *f) {
  fixture x = fixture_of(f, &f->signatures[1]);
  const der good = encoded(x.r, x.size, x.s, x.size);
  der d = good, in;
  CHECK_INT(verify(&x, &d), ECR_OK);
  /* Cut short, with the length told as it was and as it is. Read from where nothing more may be. */
  for (size_t i = 0; i < good.n; i++) {
    uint8_t *p = guarded(i);
    memcpy(p, good.p, i);
    CHECK_INT(ecr_ecdsa_verify(f->curve, x.point, x.point_size, x.hash, x.hash_size, p, i),
              ECR_REFUSED);
    if (i >= 2) p[1] = (uint8_t)(i - 2);
    CHECK_INT(ecr_ecdsa_verify(f->curve, x.point, x.point_size, x.hash, x.hash_size, p, i),
              ECR_REFUSED);
  }
  /* Bytes behind the end, inside and outside. */
  d = good;
  d.p[d.n++] = 0;
  CHECK_INT(verify(&x, &d), ECR_REFUSED);
  d.p[1]++;
  CHECK_INT(verify(&x, &d), ECR_REFUSED);
  d = good;
  add(&d, "\x05\x00", 2);
  d.p[1] = (uint8_t)(d.p[1] + 2);
  CHECK_INT(verify(&x, &d), ECR_REFUSED);
  /* Every other tag, and every other length, in all three places. */
  const size_t places[] = {0, 2, 4 + (size_t)good.p[3]};
  for (size_t i = 0; i < 3; i++) {
    for (int v = 0; v < 256; v++) {
      d = good;
      d.p[places[i]] = (uint8_t)v;
      if (d.p[places[i]] != good.p[places[i]]) CHECK_INT(verify(&x, &d), ECR_REFUSED);
      d = good;
      d.p[places[i] + 1] = (uint8_t)v;
      if (d.p[places[i] + 1] != good.p[places[i] + 1]) CHECK_INT(verify(&x, &d), ECR_REFUSED);
    }
  }
  /* Lengths of more bytes than are needed (X.690 10.1), and the indefinite one. */
  for (size_t i = 0; i < 3; i++) {
    for (size_t more = 0; more <= 4; more++) {
      d.n = 0;
      add(&d, good.p, places[i] + 1);
      d.p[d.n++] = (uint8_t)(0x80 + more);
      for (size_t j = 1; j < more; j++) d.p[d.n++] = 0;
      if (more) d.p[d.n++] = good.p[places[i] + 1];
      add(&d, good.p + places[i] + 2, good.n - places[i] - 2);
      if (more == 0) add(&d, "\x00\x00", 2);
      if (i > 0) d.p[1] = (uint8_t)(d.n - 2);
      CHECK_INT(verify(&x, &d), ECR_REFUSED);
    }
  }
  /* r or s with a zero to spare, without the zero it needs, empty. */
  for (int which = 0; which < 2; which++) {
    for (int form = 0; form < 4; form++) {
      in.n = d.n = 0;
      for (int i = 0; i < 2; i++) {
        const uint8_t *v = i ? x.s : x.r;
        uint8_t padded[SIZE + 2] = {0};
        memcpy(padded + 2, v, x.size);
        size_t zeros = v[0] & 0x80 ? 1 : 0; /* the facts have no leading zero byte */
        if (i != which) {
          put_integer(&in, v, x.size);
        } else if (form == 0) {
          put(&in, 2, padded + 1 - zeros, x.size + 1 + zeros);
        } else if (form == 1) {
          if (zeros) put(&in, 2, v, x.size);
        } else if (form == 2) {
          put(&in, 2, v, 0);
        }
      }
      put(&d, 0x30, in.p, in.n);
      CHECK_INT(verify(&x, &d), ECR_REFUSED);
    }
  }
  /* Nothing; a sequence of nothing; the number of bytes alone. */
  d.n = 0;
  CHECK_INT(ecr_ecdsa_verify(f->curve, x.point, x.point_size, x.hash, x.hash_size, NULL, 0),
            ECR_REFUSED);
  put(&d, 0x30, d.p, 0);
  CHECK_INT(verify(&x, &d), ECR_REFUSED);
  /* A key that is none is told as such, whatever the signature. */
  x.point[5] ^= 1;
  CHECK_INT(verify(&x, &d), ECR_INVALID);
}

/* r and s of 0, n, n + what was right, p, and more bytes than the order has. */
static void test_range(const facts *f) {
  fixture x = fixture_of(f, &f->signatures[1]);
  uint8_t zero[SIZE] = {0}, large[SIZE + 1];
  bytes n = hex(f->n), p = hex(f->p);
  for (int which = 0; which < 2; which++) {
    const uint8_t *v = which ? x.s : x.r;
    int carry = 0;
    for (size_t i = x.size; i-- > 0;) {
      carry += v[i] + n.p[i];
      large[i + 1] = (uint8_t)carry;
      carry >>= 8;
    }
    large[0] = (uint8_t)carry;
    const struct {
      const uint8_t *p;
      size_t n;
    } wrong[] = {{zero, x.size}, {n.p, x.size}, {p.p, x.size}, {large, x.size + 1}};
    for (size_t i = 0; i < 4; i++) {
      der d = which ? encoded(x.r, x.size, wrong[i].p, wrong[i].n)
                    : encoded(wrong[i].p, wrong[i].n, x.s, x.size);
      CHECK_INT(verify(&x, &d), ECR_REFUSED);
    }
  }
  der d = encoded(zero, 1, zero, 1);
  CHECK_INT(verify(&x, &d), ECR_REFUSED);
}

/* ---- The sum's exceptions ---------------------------------------------------------------------------------- */

static void small(uint64_t *r, const ecr_order *order, int v) {
  uint64_t borrow = 0;
  for (int i = 0; i < order->limbs; i++) r[i] = 0;
  r[0] = (uint64_t)(v < 0 ? -v : v);
  if (v >= 0) return;
  for (int i = 0; i < order->limbs; i++) r[i] = ecr_sub(order->n[i], r[i], &borrow);
}

static void scalar_bytes(uint8_t *out, const uint64_t *k, int limbs) {
  for (int i = 0; i < limbs; i++) ecr_store64(out + 8 * (limbs - 1 - i), k[i]);
}

/* u1 × G + u2 × (q × G) for small numbers, negative ones among them: equal and opposite summands, sums
** that are infinity on the way and at the end. */
static void test_exceptions(const facts *f) {
  const ecr_ec *ec = ecr_ec_get(f->curve);
  uint8_t q_point[POINT], sum[POINT], k[SIZE];
  uint64_t u1[6], u2[6], t[6], r[6] = {1};
  for (int q = -3; q <= 5; q++) {
    if (q == 0) continue;
    small(t, ec->order, q);
    scalar_bytes(k, t, ec->order->limbs);
    CHECK_INT(ecr_ec_public(f->curve, q_point, k), ECR_OK);
    for (int a = -8; a <= 8; a++) {
      for (int b = -8; b <= 8; b++) {
        int expected = a + b * q;
        small(u1, ec->order, a);
        small(u2, ec->order, b);
        if (expected == 0) {
          CHECK_INT(ec->verify(q_point, u1, u2, r), ECR_REFUSED);
          continue;
        }
        small(t, ec->order, expected);
        scalar_bytes(k, t, ec->order->limbs);
        CHECK_INT(ecr_ec_public(f->curve, sum, k), ECR_OK);
        CHECK(ecr_order_load(ec->order, r, sum + 1) != 0);
        CHECK_INT(ec->verify(q_point, u1, u2, r), ECR_OK);
        r[0] ^= 2;
        CHECK_INT(ec->verify(q_point, u1, u2, r), ECR_REFUSED);
      }
    }
  }
}

/* r = x - n where x is n or more: a point with such an x, as Q, and u1 = 0, u2 = 1. P-256: x = n + 3 …;
** found by trying, its y by libcrypto. */
static void test_wrapped(const facts *f) {
  LIBCRYPTO(void *, EC_GROUP_new_by_curve_name, int);
  LIBCRYPTO(void *, EC_POINT_new, const void *);
  LIBCRYPTO(int, EC_POINT_oct2point, const void *, void *, const uint8_t *, size_t, void *);
  LIBCRYPTO(size_t, EC_POINT_point2oct, const void *, const void *, int, uint8_t *, size_t, void *);
  LIBCRYPTO(void, EC_POINT_free, void *);
  LIBCRYPTO(void, EC_GROUP_free, void *);
  if (!EC_POINT_oct2point) return;
  const ecr_ec *ec = ecr_ec_get(f->curve);
  const size_t size = ecr_ec_size(f->curve);
  void *group = EC_GROUP_new_by_curve_name(f->curve == ECR_P256 ? 415 : 715);
  void *p = EC_POINT_new(group);
  uint8_t point[POINT];
  int found = 0;
  for (int i = 1; i < 60 && found < 5; i++) {
    uint64_t u1[6] = {0}, u2[6] = {1}, r[6] = {(uint64_t)i};
    bytes x = hex(f->n);
    x.p[size - 1] = (uint8_t)(x.p[size - 1] + i); /* both orders end in less than 0xc0 */
    point[0] = 2;
    memcpy(point + 1, x.p, size);
    if (EC_POINT_oct2point(group, p, point, size + 1, NULL) != 1) continue;
    EC_POINT_point2oct(group, p, 4, point, POINT, NULL);
    found++;
    CHECK_INT(ec->verify(point, u1, u2, r), ECR_OK);
    r[0]++;
    CHECK_INT(ec->verify(point, u1, u2, r), ECR_REFUSED);
  }
  CHECK_INT(found, 5);
  EC_POINT_free(p);
  EC_GROUP_free(group);
}

/* ---- Inverses ----------------------------------------------------------------------------------------------- */

static void test_inverse(const facts *f) {
  const ecr_order *order = ecr_ec_get(f->curve)->order;
  for (int i = 0; i < 3000; i++) {
    uint8_t p[SIZE];
    uint64_t a[6], t[6], inverse[6];
    static const uint64_t one[6] = {1};
    pattern_bytes(p, ecr_ec_size(f->curve));
    if (i < 40) {
      small(a, order, i < 20 ? i + 1 : 19 - i);
    } else if (!ecr_order_load(order, a, p)) {
      continue;
    }
    ecr_order_invert_public(order, inverse, a);
    ecr_order_mul(order, t, a, order->rr);
    ecr_order_mul(order, t, t, inverse);
    CHECK_BYTES(t, 8 * (size_t)order->limbs, one, 8 * (size_t)order->limbs);
  }
}

/* ---- libcrypto ---------------------------------------------------------------------------------------------- */

static void test_libcrypto(const facts *f) {
  LIBCRYPTO(void *, EC_KEY_new_by_curve_name, int);
  LIBCRYPTO(int, EC_KEY_oct2priv, void *, const uint8_t *, size_t);
  LIBCRYPTO(int, ECDSA_sign, int, const uint8_t *, int, uint8_t *, unsigned *, void *);
  LIBCRYPTO(void, EC_KEY_free, void *);
  if (!ECDSA_sign) return;
  static const size_t sizes[] = {20, 28, 32, 48, 64, 1, 31, 33, 47, 49};
  fixture x = {f, ecr_ec_size(f->curve), 2 * ecr_ec_size(f->curve) + 1, 0, {0}, {0}, {0}, {0}};
  for (int i = 0; i < 200; i++) {
    uint8_t secret[SIZE] = {0};
    der d;
    unsigned n = 0;
    pattern_bytes(secret, x.size);
    /* Keys near infinity: Q = G, 2G, … */
    if (i < 20) memset(secret, 0, x.size - 1), secret[x.size - 1] = (uint8_t)(i + 1);
    if (ecr_ec_public(f->curve, x.point, secret) != ECR_OK) continue;
    void *key = EC_KEY_new_by_curve_name(f->curve == ECR_P256 ? 415 : 715);
    CHECK_INT(EC_KEY_oct2priv(key, secret, x.size), 1);
    x.hash_size = sizes[i % 10];
    pattern_bytes(x.hash, x.hash_size);
    if (i % 7 == 0) memset(x.hash, i % 2 ? 0xff : 0, x.hash_size);
    CHECK_INT(ECDSA_sign(0, x.hash, (int)x.hash_size, d.p, &n, key), 1);
    d.n = n;
    CHECK_INT(verify(&x, &d), ECR_OK);
    size_t bit = (size_t)(random64() >> 40) % (8 * d.n);
    d.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    CHECK_INT(verify(&x, &d), ECR_REFUSED);
    EC_KEY_free(key);
  }
}

int main(void) {
  for (int i = 0; i < 2; i++) {
    test_rfc6979(&curves[i]);
    test_bits(&curves[i]);
    test_der(&curves[i]);
    test_range(&curves[i]);
    test_exceptions(&curves[i]);
    test_wrapped(&curves[i]);
    test_inverse(&curves[i]);
    test_libcrypto(&curves[i]);
  }
  uint8_t none[POINT] = {4};
  CHECK_INT(ecr_ecdsa_verify((ecr_curve)2, none, 65, none, 32, none, 8), ECR_INVALID);
  return unit_done("ecdsa");
}
