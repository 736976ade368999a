/*
** rsa_oaep.c: RSA-OAEP decryption: PKCS #1's example, libcrypto's ciphertexts, every way in which padding can be
** wrong, and keys that are not right.
**
** also: nou128
*/
#include "rsa_peer.h"
#include "rsa_facts.h"
#include "crypto/cryptoInt.h"

static uint8_t message[RSA_BYTES], out[RSA_BYTES];

static size_t written;

static int decrypt(const ecr_rsa_private *key, const ecr_hash *hash, const uint8_t *c, size_t n) {
  memset(out, 0xee, sizeof out);
  written = 99;
  return (int)ecr_rsa_oaep_decrypt(key, hash, c, n, out, sizeof out, &written);
}

/* Refused as it must be: nothing written, zeros where the message would have been. */
static int is_refused(const ecr_rsa_private *key, const ecr_hash *hash, const uint8_t *c, size_t n,
                      size_t size) {
  uint8_t any = 0;
  const int status = decrypt(key, hash, c, n);
  for (size_t i = 0; i < size; i++) any |= out[i];
  return status == ECR_REFUSED && written == 0 && any == 0 && out[size] == 0xee;
}

/* ---- Facts ------------------------------------------------------------------------------------------ */

static void test_facts(void) {
  const bytes n = hex(fact_oaep_n), e = hex(fact_oaep_e), p = hex(fact_oaep_p),
              q = hex(fact_oaep_q);
  const bytes dp = hex(fact_oaep_dp), dq = hex(fact_oaep_dq), qinv = hex(fact_oaep_qinv);
  const bytes c = hex(fact_oaep_ciphertext);
  const ecr_rsa_private key = {
      {n.p, n.n, e.p, e.n}, p.p, q.p, dp.p, dq.p, qinv.p, p.n, q.n, dp.n, dq.n, qinv.n};
  CHECK_INT(decrypt(&key, &ecr_sha1, c.p, c.n), ECR_OK);
  CHECK_HEX(out, written, fact_oaep_message);
  CHECK(is_refused(&key, &ecr_sha256, c.p, c.n, 256));
}

/* ---- libcrypto's ciphertexts ------------------------------------------------------------------------- */

static void test_messages(const rsa_key *key, size_t h) {
  const ecr_hash *hash = rsa_hashes[h].hash;
  const size_t size = key->size, most = size - 2 * hash->size - 2;
  const size_t lengths[] = {0, 1, 32, 127, 128, most - 1, most};
  uint8_t em[RSA_BYTES], c[RSA_BYTES];
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    const size_t n = lengths[i];
    fill(message, n, i + 1);
    if (n > 40) memset(message, i & 1 ? 0 : 1, 8); /* as the padding before it */
    CHECK_INT(lib.oaep_pad(em, (int)size, message, (int)n, NULL, 0, lib.md[h](), lib.md[h]()), 1);
    rsa_encrypt_raw(key, em, c);
    CHECK_INT(decrypt(&key->ours, hash, c, size), ECR_OK);
    CHECK_BYTES(out, written, message, n);
    uint8_t any = 0;
    for (size_t j = n; j < size; j++) any |= out[j];
    CHECK(any == 0 && out[size] == 0xee);
  }
  /* In place, and twice: each time blinded differently. */
  memcpy(out, c, size);
  written = 0;
  CHECK_INT(ecr_rsa_oaep_decrypt(&key->ours, hash, out, size, out, size, &written), ECR_OK);
  CHECK_BYTES(out, written, message, most);

  memset(out, 0xee, sizeof out);
  CHECK_INT(ecr_rsa_oaep_decrypt(&key->ours, hash, c, size, out, size - 1, &written), ECR_SHORT);
  CHECK(written == 0 && out[0] == 0xee);
  CHECK(is_refused(&key->ours, hash, c, size - 1, size));
  CHECK(is_refused(&key->ours, hash, c, 0, size));
  CHECK(is_refused(&key->ours, rsa_hashes[1 - h].hash, c, size, size));
  for (size_t bit = 3; bit < 8 * size; bit += size + 5) {
    c[bit / 8] ^= (uint8_t)(1 << bit % 8);
    CHECK(is_refused(&key->ours, hash, c, size, size));
    c[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
}

static void test_boundaries(const rsa_key *key) {
  uint8_t c[RSA_BYTES] = {0};
  for (uint8_t small = 0; small <= 2; small++) {
    c[key->size - 1] = small;
    CHECK(is_refused(&key->ours, &ecr_sha1, c, key->size, key->size));
  }
  for (int by = -1; by <= 1; by++) {
    add_small(c, key->n, key->size, by);
    CHECK(is_refused(&key->ours, &ecr_sha1, c, key->size, key->size));
  }
  /* A multiple of one prime, for which the random r has no say. */
  memset(c, 0, key->size);
  memcpy(c + key->size - key->ours.p_size, key->p, key->ours.p_size);
  CHECK(is_refused(&key->ours, &ecr_sha1, c, key->size, key->size));
}

/* ---- Padding ------------------------------------------------------------------------------------------ */

/* A block whose first byte is y and whose DB is given, encrypted. */
static void seal(const rsa_key *key, uint8_t y, const uint8_t *db, uint8_t *c) {
  uint8_t em[RSA_BYTES];
  const size_t h = ecr_sha256.size, db_size = key->size - 1 - h;
  em[0] = y;
  fill(em + 1, h, 5);
  memcpy(em + 1 + h, db, db_size);
  ecr_mgf1_xor(&ecr_sha256, em + 1, h, em + 1 + h, db_size);
  ecr_mgf1_xor(&ecr_sha256, em + 1 + h, db_size, em + 1, h);
  rsa_encrypt_raw(key, em, c);
}

static void test_padding(const rsa_key *key) {
  const size_t h = ecr_sha256.size, db_size = key->size - 1 - h;
  uint8_t db[RSA_BYTES] = {0}, c[RSA_BYTES];
  ecr_hash_context context;
  ecr_sha256.init(&context);
  ecr_sha256.digest(&context, db);
  const uint8_t *p = key->ours.public_key.n;

  /* The right one, wherever 01 stands. */
  for (size_t at = h; at < db_size; at += at < h + 3 || at > db_size - 5 ? 1 : 29) {
    memset(db + h, 0, at - h);
    db[at] = 1;
    fill(db + at + 1, db_size - at - 1, at);
    seal(key, 0, db, c);
    CHECK_INT(decrypt(&key->ours, &ecr_sha256, c, key->size), ECR_OK);
    CHECK_BYTES(out, written, db + at + 1, db_size - at - 1);
  }
  memset(db + h, 0, db_size - h);
  db[db_size - 33] = 1;
  memset(db + db_size - 32, 0x5a, 32);

  /* Y that is not 0 (as far as it stays below n); a byte of the label's hash; a byte of PS. */
  for (uint8_t y = 1; y < p[0]; y = (uint8_t)(2 * y)) {
    seal(key, y, db, c);
    CHECK(is_refused(&key->ours, &ecr_sha256, c, key->size, key->size));
    if (y & 0x80) break;
  }
  for (size_t i = 0; i < db_size - 33; i += i < h + 4 ? 1 : 23) {
    for (int by = 0; by < 2; by++) {
      const uint8_t was = db[i];
      db[i] = i < h ? (uint8_t)(was ^ (by ? 0x80 : 0x01)) : (by ? 0x80 : 0x02);
      seal(key, 0, db, c);
      CHECK(is_refused(&key->ours, &ecr_sha256, c, key->size, key->size));
      db[i] = was;
    }
  }
  /* No 01 at all: zeros to the end; another byte in its place. */
  db[db_size - 33] = 3;
  seal(key, 0, db, c);
  CHECK(is_refused(&key->ours, &ecr_sha256, c, key->size, key->size));
  memset(db + h, 0, db_size - h);
  seal(key, 0, db, c);
  CHECK(is_refused(&key->ours, &ecr_sha256, c, key->size, key->size));
  memset(db + h, 0xff, db_size - h);
  seal(key, 0, db, c);
  CHECK(is_refused(&key->ours, &ecr_sha256, c, key->size, key->size));
}

/* ---- Keys --------------------------------------------------------------------------------------------- */

/* What decryption says when a byte of the key's part is another. */
static int with_change(const rsa_key *key, const uint8_t *c, const uint8_t *part, size_t n,
                       uint8_t by) {
  uint8_t changed[RSA_BYTES];
  ecr_rsa_private ours = key->ours;
  const uint8_t **const parts[] = {&ours.p, &ours.q, &ours.dp, &ours.dq, &ours.qinv};
  memcpy(changed, part, n);
  changed[n - 1] ^= by;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (*parts[i] == part) *parts[i] = changed;
  const int status = decrypt(&ours, &ecr_sha256, c, key->size);
  return written == 0 ? status : -1;
}

static void test_keys(const rsa_key *key) {
  uint8_t em[RSA_BYTES], c[RSA_BYTES], wide[RSA_BYTES] = {0};
  const ecr_rsa_private *ours = &key->ours;
  lib.oaep_pad(em, (int)key->size, message, 32, NULL, 0, lib.md[1](), lib.md[1]());
  rsa_encrypt_raw(key, em, c);
  CHECK_INT(decrypt(ours, &ecr_sha256, c, key->size), ECR_OK);

  CHECK_INT(with_change(key, c, key->p, ours->p_size, 1), ECR_INVALID); /* even */
  CHECK_INT(with_change(key, c, key->q, ours->q_size, 1), ECR_INVALID);
  CHECK_INT(with_change(key, c, key->p, ours->p_size, 2), ECR_INVALID); /* p × q is not n */
  CHECK_INT(with_change(key, c, key->q, ours->q_size, 2), ECR_INVALID);
  /* A fault in one half must not show the other: the result is checked. */
  CHECK_INT(with_change(key, c, key->dp, ours->dp_size, 2), ECR_REFUSED);
  CHECK_INT(with_change(key, c, key->dq, ours->dq_size, 2), ECR_REFUSED);
  CHECK_INT(with_change(key, c, key->qinv, ours->qinv_size, 2), ECR_REFUSED);

  ecr_rsa_private other = *ours;
  memcpy(wide + 3, key->p, ours->p_size); /* leading zeros */
  other.p = wide;
  other.p_size += 3;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_OK);
  wide[0] = 1; /* more than half of n */
  other.p_size = RSA_BYTES / 2;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_INVALID);
  other = *ours;
  other.dp_size = 0;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_REFUSED);
  other = *ours;
  other.dp = key->p; /* not below p */
  other.dp_size = ours->p_size;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_INVALID);
  other = *ours;
  other.qinv = key->p;
  other.qinv_size = ours->p_size;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_INVALID);
  other = *ours;
  other.p_size = other.q_size = 0;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_INVALID);
  other = *ours;
  other.public_key.n_size--;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_INVALID);
  /* The padding is right, but m^e is not c. */
  other = *ours;
  other.public_key.e = (const uint8_t *)"\3";
  other.public_key.e_size = 1;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_REFUSED);
  other = *ours;
  other.public_key.e_size = 0;
  CHECK_INT(decrypt(&other, &ecr_sha256, c, key->size), ECR_INVALID);
}

int main(void) {
  test_facts();
  if (rsa_peer_open()) {
    rsa_key key;
    for (size_t i = 0; i < RSA_SHAPES; i++) {
      rsa_make(&key, &rsa_shapes[i]);
      if (rsa_shapes[i].bits < 3000) {
        test_messages(&key, 0);
        test_messages(&key, 1);
        test_boundaries(&key);
        test_padding(&key);
        test_keys(&key);
      } else {
        uint8_t em[RSA_BYTES], c[RSA_BYTES];
        lib.oaep_pad(em, (int)key.size, message, 32, NULL, 0, lib.md[0](), lib.md[0]());
        rsa_encrypt_raw(&key, em, c);
        CHECK_INT(decrypt(&key.ours, &ecr_sha1, c, key.size), ECR_OK);
        CHECK_BYTES(out, written, message, 32);
        c[9] ^= 1;
        CHECK(is_refused(&key.ours, &ecr_sha1, c, key.size, key.size));
      }
      lib.rsa_free(key.rsa);
    }
    rsa_make(&key, &rsa_lopsided);
    CHECK_INT(decrypt(&key.ours, &ecr_sha1, message, key.size), ECR_INVALID);
    lib.rsa_free(key.rsa);
  }
  return unit_done("rsa_oaep");
}
