/*
** tls_der.c: the reader of DER: each kind of element as X.690 has it, and the other encodings that
** BER allows, none of which is read. Every reading ends where its memory does.
*/
#include "primitives.h"
#include "tls/x509Int.h"

static tls_der over(const char *text) {
  const bytes b = hex(text);
  uint8_t *p = guarded(b.n);
  if (b.n) memcpy(p, b.p, b.n);
  return tls_der_of(tls_bytes_of(p, b.n));
}

static void test_lengths(void) {
  static const struct {
    const char *text;
    int size; /* of the content, or -1 where it is bad */
  } cases[] = {
      {"0400", 0},
      {"0401aa", 1},
      {"0480", -1},
      {"04800000", -1},
      {"048100", -1},
      {"048101aa", -1},
      {"04820001aa", -1},
      {"04", -1},
      {"", -1},
      {"0402aa", -1},
      {"0481", -1},
      {"048201", -1},
      {"04847fffffff", -1},
      {"04ff", -1},
      {"0485 0100000000", -1},
      {"0484ffffffff", -1},
      {"1f8101 00", -1},
      {"1f0100", -1},
      {"0485 0000000000", -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tls_der in = over(cases[i].text);
    int tag;
    const tls_bytes got = tls_der_any(&in, &tag);
    if (!CHECK_INT(in.bad ? -1 : (int)got.n, cases[i].size)) printf("  %s\n", cases[i].text);
    CHECK_INT(tag, in.bad ? -1 : 4);
    CHECK(!in.bad || (got.p == NULL && got.n == 0));
  }
  /* 128 bytes, and 65,536: the shortest of their forms. */
  static uint8_t p[70000] = {4, 0x81, 0x80};
  tls_der in = tls_der_of(tls_bytes_of(p, 131));
  CHECK_INT(tls_der_take(&in, 4).n, 128);
  CHECK(tls_der_done(&in));
  memcpy(p, "\x04\x83\x01\x00\x00", 5);
  in = tls_der_of(tls_bytes_of(p, 65541));
  CHECK_INT(tls_der_take(&in, 4).n, 65536);
  CHECK(tls_der_done(&in));
  in = tls_der_of(tls_bytes_of(p, 65540));
  tls_der_take(&in, 4);
  CHECK(in.bad);
}

static void test_sticky(void) {
  tls_der in = over("0201050201060101ff");
  CHECK_INT(tls_der_small(&in), 5);
  tls_der_take(&in, TLS_DER_OID);
  CHECK(in.bad);
  CHECK_INT(tls_der_small(&in), 0);
  CHECK_INT(tls_der_boolean(&in, 0), 0);
  CHECK_INT(tls_der_peek(&in), -1);
  CHECK(!tls_der_more(&in) && !tls_der_done(&in));
  const tls_der inner = tls_der_enter(&in, TLS_DER_SEQUENCE);
  CHECK(inner.bad && inner.n == 0);

  in = over("3003020105 0500");
  tls_der all = tls_der_enter(&in, TLS_DER_SEQUENCE);
  CHECK_INT(tls_der_small(&all), 5);
  CHECK(tls_der_done(&all) && !tls_der_done(&in) && tls_der_more(&in));
  CHECK_INT(tls_der_peek(&in), TLS_DER_NULL);
  CHECK_INT(tls_der_optional(&in, TLS_DER_OID).n, 0);
  CHECK_INT(tls_der_whole(&in, TLS_DER_NULL).n, 2);
  CHECK(tls_der_done(&in));
}

static void test_booleans(void) {
  static const struct {
    const char *text;
    int optional, value, bad;
  } cases[] = {{"0101ff", 0, 1, 0}, {"010100", 0, 0, 0}, {"010101", 0, 0, 1},   {"0100", 0, 0, 1},
               {"0500", 1, 0, 0},   {"0500", 0, 0, 1},   {"0102ffff", 0, 0, 1}, {"", 1, 0, 0},
               {"0101ff", 1, 1, 0}, {"01017f", 1, 0, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tls_der in = over(cases[i].text);
    CHECK_INT(tls_der_boolean(&in, cases[i].optional), cases[i].value);
    CHECK_INT(in.bad, cases[i].bad);
  }
}

/* The size of what each of the three readers gives, -1 where it is bad; small's value. */
static void test_integers(void) {
  static const struct {
    const char *text;
    int any, positive;
    int64_t small;
  } cases[] = {
      {"020100", 1, 1, 0},          {"02017f", 1, 1, 127},
      {"02020080", 2, 1, 128},      {"020180", 1, -1, -1},
      {"0201ff", 1, -1, -1},        {"0200", -1, -1, -1},
      {"0202007f", -1, -1, -1},     {"0202ff80", -1, -1, -1},
      {"0202ff7f", 2, -1, -1},      {"02047fffffff", 4, 4, 0x7fffffff},
      {"02050080000000", 5, 4, -1}, {"02050100000000", 5, 5, -1},
      {"0a0101", -1, -1, -1},       {"0203000080", -1, -1, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tls_der a = over(cases[i].text), b = a, c = a;
    const tls_bytes any = tls_der_integer(&a), positive = tls_der_unsigned(&b);
    const uint32_t small = tls_der_small(&c);
    CHECK_INT(a.bad ? -1 : (int)any.n, cases[i].any);
    CHECK_INT(b.bad ? -1 : (int)positive.n, cases[i].positive);
    if (!CHECK_INT(c.bad ? -1 : (int64_t)small, cases[i].small)) printf("  %s\n", cases[i].text);
  }
}

static void test_bits(void) {
  static const struct {
    const char *text;
    int bytes, named; /* -1: bad */
  } cases[] = {
      {"030200aa", 1, -1},   {"03020780", -1, 1},       {"030206c0", -1, 3},
      {"03020640", -1, 2},   {"03020680", -1, -1},      {"030206c1", -1, -1},
      {"030100", 0, 0},      {"030107", -1, -1},        {"0300", -1, -1},
      {"03020800", -1, -1},  {"0303070080", -1, 0x100}, {"0303000001", 2, 0x8000},
      {"0303000000", 2, -1}, {"0304000000ff", 3, -1},   {"03020700", -1, -1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tls_der a = over(cases[i].text), b = a;
    const tls_bytes whole = tls_der_bits(&a);
    const unsigned named = tls_der_named_bits(&b, NULL);
    CHECK_INT(a.bad ? -1 : (int)whole.n, cases[i].bytes);
    if (!CHECK_INT(b.bad ? -1 : (int)named, cases[i].named)) printf("  %s\n", cases[i].text);
  }
}

/* Zero bits at the end, where they are let through; but spare bits that are ones never. */
static void test_loose(void) {
  static const struct {
    const char *text;
    int named, loose; /* -1: bad */
  } cases[] = {{"03020106", 0x60, 0}, {"0303000600", 0x60, 1}, {"0303070600", 0x60, 1},
               {"03020006", 0x60, 1}, {"0302060f", -1, 1},     {"03020700", 0, 1},
               {"0303070601", -1, 1}, {"030100", 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tls_der in = over(cases[i].text);
    int loose = 0;
    const unsigned named = tls_der_named_bits(&in, &loose);
    if (!CHECK_INT(in.bad ? -1 : (int)named, cases[i].named)) printf("  %s\n", cases[i].text);
    CHECK_INT(loose, cases[i].loose);
  }
}

int main(void) {
  test_loose();
  test_lengths();
  test_sticky();
  test_booleans();
  test_integers();
  test_bits();
  return unit_done("tls_der");
}
