/*
** x509_maker.h: DER and certificates written by hand, so that they may be wrong in any way, and
** signed by libcrypto. It shares nothing with tls/ but what a certificate is.
*/
#ifndef EDB_UNIT_X509_MAKER_H
#define EDB_UNIT_X509_MAKER_H

#include "x509_keys.h"

#define MADE_MAX 60000

typedef struct made {
  size_t n;
  uint8_t p[MADE_MAX];
} made;

/* ---- DER ------------------------------------------------------------------------------------- */

static inline void add(made *d, const void *p, size_t n) {
  if (d->n + n > MADE_MAX) abort();
  if (n) memcpy(d->p + d->n, p, n);
  d->n += n;
}

static inline void add_byte(made *d, unsigned byte) {
  const uint8_t b = (uint8_t)byte;
  add(d, &b, 1);
}

/* Tag, the shortest length, content. */
static inline void put(made *d, unsigned tag, const void *p, size_t n) {
  add_byte(d, tag);
  if (n >= 0x80) add_byte(d, n > 0xffff ? 0x83 : n > 0xff ? 0x82 : 0x81);
  if (n > 0xffff) add_byte(d, (unsigned)(n >> 16));
  if (n > 0xff) add_byte(d, (unsigned)(n >> 8));
  add_byte(d, (unsigned)n);
  add(d, p, n);
}

static inline void put_hex(made *d, unsigned tag, const char *text) {
  const bytes b = hex(text);
  put(d, tag, b.p, b.n);
}

/* The content of d as that tag's. */
static inline void wrap(made *d, unsigned tag) {
  made *inner = malloc(sizeof *inner);
  if (!inner) abort();
  *inner = *d;
  d->n = 0;
  put(d, tag, inner->p, inner->n);
  free(inner);
}

/* Names in a line: "CN=db.example,O=edb"; "" is the empty one. Types: CN, O, E (emailAddress). A
** `~` before the value makes it a UTF8String, else it is a PrintableString; `+` between
** attributes makes one RDN of them. */
static inline void put_name(made *d, const char *text) {
  static const char *const types[][2] = {
      {"CN=", "550403"}, {"O=", "55040a"}, {"E=", "2a864886f70d010901"}};
  made *rdn = calloc(3, sizeof *rdn), *attribute = rdn + 1, *name = rdn + 2;
  while (*text) {
    const size_t n = strcspn(text, ",+");
    for (int i = 0; i < 3; i++) {
      const size_t head = strlen(types[i][0]);
      if (strncmp(text, types[i][0], head) != 0) continue;
      const int utf8 = text[head] == '~';
      attribute->n = 0;
      put_hex(attribute, 0x06, types[i][1]);
      put(attribute, utf8 ? 0x0c : 0x13, text + head + utf8, n - head - (size_t)utf8);
      put(rdn, 0x30, attribute->p, attribute->n);
    }
    text += n;
    if (*text != '+') put(name, 0x31, rdn->p, rdn->n), rdn->n = 0;
    text += *text != 0;
  }
  put(d, 0x30, name->p, name->n);
  free(rdn);
}

/* GeneralNames' content in a line: "dns:db.example ip:0a000001 dir:CN=x mail:a@b uri:u other:". */
static inline void put_general(made *d, const char *text) {
  static const struct {
    const char *head;
    unsigned tag;
  } forms[] = {{"dns:", 0x82},  {"ip:", 0x87},  {"dir:", 0xa4},
               {"mail:", 0x81}, {"uri:", 0x86}, {"other:", 0xa0}};
  while (*text) {
    const size_t n = strcspn(text, " ");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
      const size_t head = strlen(forms[i].head);
      char value[300] = {0};
      if (strncmp(text, forms[i].head, head) != 0) continue;
      memcpy(value, text + head, n - head);
      if (forms[i].tag == 0x87) {
        put_hex(d, 0x87, value);
      } else if (forms[i].tag == 0xa4) {
        made *name = calloc(1, sizeof *name);
        put_name(name, value);
        put(d, 0xa4, name->p, name->n);
        free(name);
      } else if (forms[i].tag == 0xa0) {
        put_hex(d, 0xa0, "06032a0304 a003 0c0178");
      } else {
        put(d, forms[i].tag, value, n - head);
      }
    }
    text += n + (text[n] == ' ');
  }
}

/* NameConstraints' content: permitted and excluded subtrees, either NULL for none. */
static inline void put_constraints(made *d, const char *permitted, const char *excluded) {
  const char *const of[] = {permitted, excluded};
  made *all = calloc(2, sizeof *all), *one = all + 1;
  for (unsigned i = 0; i < 2; i++) {
    const char *text = of[i];
    if (!text) continue;
    all->n = 0;
    while (*text) {
      char word[300] = {0};
      const size_t n = strcspn(text, " ");
      memcpy(word, text, n);
      one->n = 0;
      put_general(one, word);
      put(all, 0x30, one->p, one->n);
      text += n + (text[n] == ' ');
    }
    put(d, 0xa0 + i, all->p, all->n);
  }
  free(all);
}

/* ---- Certificates ---------------------------------------------------------------------------- */

#define EXTENSIONS 8

/* Fields whose meaning is not said are DER's content in hexadecimal. */
typedef struct spec {
  const char *subject, *issuer; /* as put_name takes them */
  const test_key *key, *by;
  const char *serial, *version, *not_before,
      *not_after;                /* times: 17… UTCTime, 18… GeneralizedTime, whole */
  const char *algorithm, *outer; /* AlgorithmIdentifiers, whole; NULL: as by is, the same outside */
  const char *hash, *pss;        /* what signs, as key_sign takes it */
  const char *raw;               /* behind the extensions, in the TBSCertificate */
  struct {
    const char *oid, *value;          /* value NULL: left out */
    int critical;                     /* 2: a FALSE that is written out */
    const char *general;              /* instead of value: GeneralNames */
    const char *permitted, *excluded; /* instead of value: NameConstraints */
  } extensions[EXTENSIONS];
} spec;

#define BASIC "551d13"
#define USAGE "551d0f"
#define PURPOSE "551d25"
#define NAMES "551d11"
#define CONSTRAINTS "551d1e"
#define KEY_ID "551d0e"
#define ISSUER_KEY_ID "551d23"
#define SERVER "300a 0608 2b06010505070301"

static inline int spec_find(const spec *s, const char *oid) {
  int i = 0;
  while (i < EXTENSIONS && s->extensions[i].oid && strcmp(s->extensions[i].oid, oid) != 0) i++;
  if (i == EXTENSIONS) abort();
  return i;
}

static inline void spec_set(spec *s, const char *oid, int critical, const char *value) {
  const int i = spec_find(s, oid);
  memset(&s->extensions[i], 0, sizeof s->extensions[i]);
  s->extensions[i].oid = oid;
  s->extensions[i].critical = critical;
  s->extensions[i].value = value;
}

static inline void spec_names(spec *s, int critical, const char *general) {
  spec_set(s, NAMES, critical, "");
  s->extensions[spec_find(s, NAMES)].general = general;
}

static inline void spec_constraints(spec *s, const char *permitted, const char *excluded) {
  spec_set(s, CONSTRAINTS, 1, "");
  s->extensions[spec_find(s, CONSTRAINTS)].permitted = permitted;
  s->extensions[spec_find(s, CONSTRAINTS)].excluded = excluded;
}

/* Key identifiers: the last bytes of the key. "=" as the value stands for the right one. */
static inline spec spec_ca(const char *subject, const test_key *key, const char *issuer,
                           const test_key *by) {
  spec s = {.subject = subject,
            .issuer = issuer,
            .key = key,
            .by = by,
            .serial = "1234",
            .version = "02",
            .not_before = "170d3230303130313030303030305a",
            .not_after = "180f32303530303130313030303030305a",
            .hash = "SHA256"};
  spec_set(&s, BASIC, 1, "3003 0101ff");
  spec_set(&s, USAGE, 1, "0302 0106");
  spec_set(&s, KEY_ID, 0, "=");
  if (key != by || strcmp(subject, issuer) != 0) spec_set(&s, ISSUER_KEY_ID, 0, "=");
  return s;
}

static inline spec spec_leaf(const char *subject, const char *names, const test_key *key,
                             const char *issuer, const test_key *by) {
  spec s = spec_ca(subject, key, issuer, by);
  spec_set(&s, BASIC, 1, "3000");
  spec_set(&s, USAGE, 1, "0302 0780");
  spec_set(&s, PURPOSE, 0, SERVER);
  spec_names(&s, 0, names);
  return s;
}

static inline void put_extensions(made *tbs, const spec *s) {
  made *all = calloc(3, sizeof *all), *one = all + 1, *value = all + 2;
  int count = 0;
  for (int i = 0; i < EXTENSIONS && s->extensions[i].oid; i++) {
    const char *text = s->extensions[i].value;
    if (!text) continue;
    count++;
    one->n = value->n = 0;
    put_hex(one, 0x06, s->extensions[i].oid);
    if (s->extensions[i].critical) put_hex(one, 0x01, s->extensions[i].critical == 2 ? "00" : "ff");
    if (s->extensions[i].general) {
      put_general(value, s->extensions[i].general);
      wrap(value, 0x30);
    } else if (s->extensions[i].permitted || s->extensions[i].excluded) {
      put_constraints(value, s->extensions[i].permitted, s->extensions[i].excluded);
      wrap(value, 0x30);
    } else if (strcmp(text, "=") == 0 && strcmp(s->extensions[i].oid, KEY_ID) == 0) {
      put(value, 0x04, s->key->spki + s->key->spki_size - 20, 20);
    } else if (strcmp(text, "=") == 0) {
      put(value, 0x80, s->by->spki + s->by->spki_size - 20, 20);
      wrap(value, 0x30);
    } else {
      const bytes b = hex(text);
      add(value, b.p, b.n);
    }
    put(one, 0x04, value->p, value->n);
    put(all, 0x30, one->p, one->n);
  }
  if (count > 0) {
    wrap(all, 0x30);
    put(tbs, 0xa3, all->p, all->n);
  }
  free(all);
}

static inline const char *algorithm_of(const spec *s) {
  static const struct {
    const char *key, *hash, *identifier;
  } known[] = {
      {"p256", "SHA1", "3009 0607 2a8648ce3d0401"},
      {"p256", "SHA256", "300a 0608 2a8648ce3d040302"},
      {"p256", "SHA384", "300a 0608 2a8648ce3d040303"},
      {"p256", "SHA512", "300a 0608 2a8648ce3d040304"},
      {"rsa", "SHA1", "300d 0609 2a864886f70d010105 0500"},
      {"rsa", "SHA256", "300d 0609 2a864886f70d01010b 0500"},
      {"rsa", "SHA384", "300d 0609 2a864886f70d01010c 0500"},
      {"rsa", "SHA512", "300d 0609 2a864886f70d01010d 0500"},
      {"pss", "SHA256",
       "3041 0609 2a864886f70d01010a 3034 a00f 300d 0609 608648016503040201 0500 a11c 301a 0609"
       "2a864886f70d010108 300d 0609 608648016503040201 0500 a203 020120"},
      {"pss", "SHA384",
       "3041 0609 2a864886f70d01010a 3034 a00f 300d 0609 608648016503040202 0500 a11c 301a 0609"
       "2a864886f70d010108 300d 0609 608648016503040202 0500 a203 020130"},
      {"pss", "SHA512",
       "3041 0609 2a864886f70d01010a 3034 a00f 300d 0609 608648016503040203 0500 a11c 301a 0609"
       "2a864886f70d010108 300d 0609 608648016503040203 0500 a203 020140"},
      {"ed25519", NULL, "3005 0603 2b6570"},
  };
  const char *name = s->pss ? "pss" : strcmp(s->by->name, "p384") == 0 ? "p256" : s->by->name;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(known[i].key, name) != 0) continue;
    if (!known[i].hash || (s->hash && strcmp(known[i].hash, s->hash) == 0))
      return known[i].identifier;
  }
  abort();
}

static inline void make(made *out, const spec *s) {
  const char *algorithm = s->algorithm ? s->algorithm : algorithm_of(s);
  const bytes inner = hex(algorithm), outer = hex(s->outer ? s->outer : algorithm);
  uint8_t signature[601] = {0};
  made *tbs = calloc(1, sizeof *tbs);
  bytes b;
  if (s->version) {
    put_hex(tbs, 0x02, s->version);
    wrap(tbs, 0xa0);
  }
  put_hex(tbs, 0x02, s->serial);
  add(tbs, inner.p, inner.n);
  put_name(tbs, s->issuer);
  made *validity = calloc(1, sizeof *validity);
  b = hex(s->not_before);
  add(validity, b.p, b.n);
  b = hex(s->not_after);
  add(validity, b.p, b.n);
  put(tbs, 0x30, validity->p, validity->n);
  free(validity);
  put_name(tbs, s->subject);
  add(tbs, s->key->spki, s->key->spki_size);
  put_extensions(tbs, s);
  if (s->raw) {
    b = hex(s->raw);
    add(tbs, b.p, b.n);
  }
  wrap(tbs, 0x30);
  const size_t n = key_sign(s->by, strcmp(s->by->name, "ed25519") == 0 ? NULL : s->hash, s->pss,
                            tbs->p, tbs->n, signature + 1, 600);
  out->n = 0;
  add(out, tbs->p, tbs->n);
  add(out, outer.p, outer.n);
  put(out, 0x03, signature, n + 1);
  wrap(out, 0x30);
  free(tbs);
}

#endif
