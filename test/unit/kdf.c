/*
** HMAC (RFC 2202, RFC 4231), HKDF (RFC 5869), TLS 1.3's labels (RFC 8448), the PRF of TLS 1.2, and
** libcrypto's HMAC at every length.
*/
#include "primitives.h"

/* RFC 2202 3 and RFC 4231 4.2 to 4.8; the fifth shows its first 16 bytes alone in RFC 4231. */
static void hmac_examples(void) {
  static const struct {
    const char *key, *message, *sums[4];
    size_t keys, messages; /* that many times the text */
  } cases[] = {{"0b",
                "4869205468657265",
                {"b617318655057264e28bc0b6fb378c8ef146be00",
                 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
                 "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f"
                 "4af152e8b2fa9cb6",
                 "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702"
                 "038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"},
                20,
                1},
               {"4a656665",
                "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
                {"effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
                 "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c7"
                 "8b3239ecfab21649",
                 "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a"
                 "6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
                1,
                1},
               {"aa",
                "dd",
                {"125d7342b9ac11cd91a39af48aa17b4f63f175d3",
                 "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
                 "88062608d3e6ad8a0aa2ace014c8a86f0aa635d947ac9febe83ef4e55966144b2a5ab39dc13814b9"
                 "4e3ab6e101a34f27",
                 "fa73b0089d56a284efb0f0756c890be9b1b5dbdd8ee81a3655f83e33b2279d39bf3e848279a722c8"
                 "06b485a47e67c807b946a337bee8942674278859e13292fb"},
                20,
                50},
               {"0102030405060708090a0b0c0d0e0f10111213141516171819",
                "cd",
                {"4c9007f4026250c6bc8414f9bf50c86c2d7235da",
                 "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
                 "3e8a69b7783c25851933ab6290af6ca77a9981480850009cc5577c6e1f573b4e6801dd23c4a7d679"
                 "ccf8a386c674cffb",
                 "b0ba465637458c6990e5a8c5f61d4af7e576d97ff94b872de76f8050361ee3dba91ca5c11aa25eb4"
                 "d679275cc5788063a5f19741120c4f2de2adebeb10a298dd"},
                1,
                50},
               {"0c",
                "546573742057697468205472756e636174696f6e",
                {"4c1a03424b55e07fe7f27be1d58bb9324a9a5a04", "a3b6167473100ee06e0c796c2955552b",
                 "3abf34c3503b2a23a46efc619baef897", "415fad6271580a531d4179bc891d87a6"},
                20,
                1},
               {"aa",
                "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d20"
                "48617368204b6579204669727374",
                {"aa4ae5e15272d00e95705637ce8a3b55ed402112", NULL, NULL, NULL},
                80,
                1},
               {"aa",
                "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b657920616e"
                "64204c6172676572205468616e204f6e6520426c6f636b2d53697a652044617461",
                {"e8e99d0f45237d786d6bbaa7965c7808bbff1a91", NULL, NULL, NULL},
                80,
                1},
               {"aa",
                "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d20"
                "48617368204b6579204669727374",
                {NULL, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
                 "4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe82"
                 "96248df163f44952",
                 "80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598"
                 "bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"},
                131,
                1},
               {"aa",
                "5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f636b"
                "2d73697a65206b657920616e642061206c6172676572207468616e20626c6f636b2d73697a652064"
                "6174612e20546865206b6579206e6565647320746f20626520686173686564206265666f72652062"
                "65696e6720757365642062792074686520484d414320616c676f726974686d2e",
                {NULL, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
                 "6617178e941f020d351e2f254e8fd32c602420feb0b8fb9adccebb82461e99c5a678cc31e799176d"
                 "3860e6110c46523e",
                 "e37b6a775dc87dbaa4dfa9f96e5e3ffddebd71f8867289865df5a32d20cdc944b6022cac3c4982b1"
                 "0d5eeb55c3e4de15134676fb6de0446065c97440fa8c6a58"},
                131,
                1}};
  static const ecr_hash *const hashes[] = {&ecr_sha1, &ecr_sha256, &ecr_sha384, &ecr_sha512};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const bytes key = hex(cases[i].key), message = hex(cases[i].message);
    uint8_t keys[200], messages[200], got[ECR_HASH_MAX];
    for (size_t j = 0; j < cases[i].keys; j++) memcpy(keys + j * key.n, key.p, key.n);
    for (size_t j = 0; j < cases[i].messages; j++)
      memcpy(messages + j * message.n, message.p, message.n);
    for (size_t h = 0; h < 4; h++) {
      if (!cases[i].sums[h]) continue;
      const bytes expected = hex(cases[i].sums[h]);
      ecr_hmac(hashes[h], keys, cases[i].keys * key.n, messages, cases[i].messages * message.n,
               got);
      CHECK_BYTES(got, expected.n, expected.p, expected.n);
    }
  }
}

typedef unsigned char *peer_hmac(const void *type, const void *key, int key_size,
                                 const unsigned char *p, size_t n, unsigned char *out,
                                 unsigned *size);
typedef const void *evp_type(void);

/* Keys around the block's size, messages of every length to 1,100, in two pieces. */
static void hmac_against_libcrypto(void) {
  static const ecr_hash *const hashes[] = {&ecr_sha1, &ecr_sha256, &ecr_sha384, &ecr_sha512};
  static const char *const names[] = {"EVP_sha1", "EVP_sha256", "EVP_sha384", "EVP_sha512"};
  static const int keys[] = {1, 20, 63, 64, 65, 127, 128, 129, 300};
  uint8_t text[1100], got[ECR_HASH_MAX], expected[ECR_HASH_MAX];
  peer_hmac *call;
  PEER(call, "HMAC");
  if (!call) return;
  fill(text, sizeof text, 3);
  for (size_t i = 0; i < 4; i++) {
    evp_type *type;
    size_t wrong = 0;
    PEER(type, names[i]);
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
      ecr_hmac_context start, context;
      ecr_hmac_init(&start, hashes[i], text + 7, (size_t)keys[k]);
      for (size_t n = 0; n <= sizeof text; n += k % 2 ? 37 : 1) {
        context = start;
        ecr_hmac_update(&context, text, n / 3);
        ecr_hmac_update(&context, text + n / 3, n - n / 3);
        ecr_hmac_digest(&context, got);
        call(type(), text + 7, keys[k], text, n, expected, NULL);
        wrong += memcmp(got, expected, hashes[i]->size) != 0;
      }
    }
    CHECK_INT(wrong, 0);
  }
}

/* RFC 5869 A.1 to A.6 (A.7 has no salt at all, which is A.6's empty one). */
static void hkdf_examples(void) {
  static const struct {
    const ecr_hash *hash;
    const char *secret, *salt, *info, *prk, *okm;
  } cases[] = {{&ecr_sha256, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b",
                "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
                "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b88718"
                "5865"},
               {&ecr_sha256,
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627"
                "28292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f",
                "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828384858687"
                "88898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
                "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7"
                "d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
                "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac78272"
                "71cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f"
                "1d87"},
               {&ecr_sha256, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
                "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a"
                "96c8"},
               {&ecr_sha1, "0b0b0b0b0b0b0b0b0b0b0b", "000102030405060708090a0b0c",
                "f0f1f2f3f4f5f6f7f8f9", "9b6c18c432a7bf8f0e71c8eb88f4b30baa2ba243",
                "085a01ea1b10f36933068b56efa5ad81a4f14b822f5b091568a9cdd4f155fda2c22e422478d305f3"
                "f896"},
               {&ecr_sha1,
                "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627"
                "28292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f",
                "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f8081828384858687"
                "88898a8b8c8d8e8f909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeaf",
                "b0b1b2b3b4b5b6b7b8b9babbbcbdbebfc0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7"
                "d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
                "8adae09a2a307059478d309b26c4115a224cfaf6",
                "0bd770a74d1160f7c9f12cd5912a06ebff6adcae899d92191fe4305673ba2ffe8fa3f1a4e5ad79f3"
                "f334b3b202b2173c486ea37ce3d397ed034c7f9dfeb15c5e927336d0441f4c4300e2cff0d0900b52"
                "d3b4"},
               {&ecr_sha1, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "", "",
                "da8c8a73c7fa77288ec6f5e7c297786aa0d32d01",
                "0ac1af7002b3d761d1e55298da9d0506b9ae52057220a306e07b6b87e8df21d0ea00033de03984d3"
                "4918"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const bytes secret = hex(cases[i].secret), salt = hex(cases[i].salt), info = hex(cases[i].info);
    const bytes prk = hex(cases[i].prk), okm = hex(cases[i].okm);
    uint8_t got[ECR_HASH_MAX], out[100];
    ecr_hkdf_extract(cases[i].hash, salt.p, salt.n, secret.p, secret.n, got);
    CHECK_BYTES(got, cases[i].hash->size, prk.p, prk.n);
    CHECK_INT(ecr_hkdf_expand(cases[i].hash, got, prk.n, info.p, info.n, out, okm.n), ECR_OK);
    CHECK_BYTES(out, okm.n, okm.p, okm.n);
  }
}

/* RFC 5869 2.3: L <= 255 * HashLen; each length is the head of a longer one. */
static void hkdf_lengths(void) {
  static uint8_t longest[255 * 64 + 1], out[255 * 64 + 1];
  static const ecr_hash *const hashes[] = {&ecr_sha256, &ecr_sha384, &ecr_sha512};
  for (size_t i = 0; i < 3; i++) {
    const size_t most = 255 * hashes[i]->size;
    size_t wrong = 0;
    CHECK_INT(ecr_hkdf_expand(hashes[i], "key", 3, "info", 4, longest, most), ECR_OK);
    CHECK_INT(ecr_hkdf_expand(hashes[i], "key", 3, "info", 4, out, most + 1), ECR_TOO_LONG);
    for (size_t n = 0; n < 300; n++) {
      memset(out, 0xa5, 301);
      wrong += ecr_hkdf_expand(hashes[i], "key", 3, "info", 4, out, n) != ECR_OK;
      wrong += memcmp(out, longest, n) != 0 || out[n] != 0xa5;
    }
    CHECK_INT(wrong, 0);
  }
}

/* RFC 8448 3, the simple 1-RTT handshake. */
static void labels(void) {
  uint8_t secret[32], derived[32], out[32], empty[32];
  const bytes zeros = {32, {0}};
  const bytes shared = hex("8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d");
  const ecr_hash *h = &ecr_sha256;
  ecr_hash_context context;
  h->init(&context);
  h->digest(&context, empty);

  ecr_hkdf_extract(h, NULL, 0, zeros.p, 32, secret);
  CHECK_HEX(secret, 32, "33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a");
  CHECK_INT(ecr_hkdf_expand_label(h, secret, "derived", empty, 32, derived, 32), ECR_OK);
  CHECK_HEX(derived, 32, "6f2615a108c702c5678f54fc9dbab69716c076189c48250cebeac3576c3611ba");
  ecr_hkdf_extract(h, derived, 32, shared.p, shared.n, secret);
  CHECK_HEX(secret, 32, "1dc826e93606aa6fdc0aadc12f741b01046aa6b99f691ed221a9f0ca043fbeac");
  CHECK_INT(ecr_hkdf_expand_label(h, secret, "derived", empty, 32, derived, 32), ECR_OK);
  CHECK_HEX(derived, 32, "43de77e0c77713859a944db9db2590b53190a65b3ee2e4f12dd7a0bb7ce254b4");
  ecr_hkdf_extract(h, derived, 32, zeros.p, 32, secret);
  CHECK_HEX(secret, 32, "18df06843d13a08bf2a449844c5f8a478001bc4d4c627984d5a41da8d0402919");

  /* {server} derive write traffic keys for handshake data, and the finished key. */
  const bytes server = hex("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38");
  CHECK_INT(ecr_hkdf_expand_label(h, server.p, "key", NULL, 0, out, 16), ECR_OK);
  CHECK_HEX(out, 16, "3fce516009c21727d0f2e4e86ee403bc");
  CHECK_INT(ecr_hkdf_expand_label(h, server.p, "iv", NULL, 0, out, 12), ECR_OK);
  CHECK_HEX(out, 12, "5d313eb2671276ee13000b30");
  CHECK_INT(ecr_hkdf_expand_label(h, server.p, "finished", NULL, 0, out, 32), ECR_OK);
  CHECK_HEX(out, 32, "008d3b66f816ea559f96b537e885c31fc068bf492c652f01f288a1d8cdc19fc8");
  const bytes client = hex("b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21");
  CHECK_INT(ecr_hkdf_expand_label(h, client.p, "key", NULL, 0, out, 16), ECR_OK);
  CHECK_HEX(out, 16, "dbfaa693d1762c5b666af5d950258d01");
  CHECK_INT(ecr_hkdf_expand_label(h, client.p, "iv", NULL, 0, out, 12), ECR_OK);
  CHECK_HEX(out, 12, "5bd3c71b836e0b76bb73265f");
  const bytes resumption = hex("7df235f2031d2a051287d02b0241b0bfdaf86cc856231f2d5aba46c434ec196c");
  const bytes nonce = hex("0000");
  CHECK_INT(ecr_hkdf_expand_label(h, resumption.p, "resumption", nonce.p, 2, out, 32), ECR_OK);
  CHECK_HEX(out, 32, "4ecd0eb6ec3b4d87f5d6028f922ca4c5851a277fd41311c9e62d2c9492e1c4f3");
}

/* HkdfLabel: label<7..255> with "tls13 " in it, context<0..255>, a length of two bytes. */
static void label_limits(void) {
  static const uint8_t secret[48], context[256];
  static uint8_t out[0x10000];
  char label[251];
  memset(label, 'x', 250);
  label[250] = 0;
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha256, secret, label, NULL, 0, out, 32), ECR_INVALID);
  label[249] = 0;
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha256, secret, label, NULL, 0, out, 32), ECR_OK);
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha256, secret, label, context, 255, out, 32), ECR_OK);
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha256, secret, "x", context, 256, out, 32), ECR_INVALID);
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha256, secret, "", NULL, 0, out, 32), ECR_INVALID);
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha256, secret, "x", NULL, 0, out, 255 * 32), ECR_OK);
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha256, secret, "x", NULL, 0, out, 255 * 32 + 1),
            ECR_TOO_LONG);
  CHECK_INT(ecr_hkdf_expand_label(&ecr_sha384, secret, "x", NULL, 0, out, 0x10000), ECR_TOO_LONG);
}

/* The vectors that were posted to the TLS working group's list with RFC 5246 ("Test vectors for the TLS
** 1.2 PRF", 2009); libcrypto's TLS1-PRF gives the same. */
static void prf(void) {
  static const struct {
    const ecr_hash *hash;
    const char *secret, *seed, *out;
  } cases[] = {{&ecr_sha256, "9bbe436ba940f017b17652849a71db35", "a0ba9f936cda311827a6f796ffd5198c",
                "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9"
                "c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789ba"
                "a48082d122ee42c5a72e5a5110fff70187347b66"},
               {&ecr_sha384, "b80b733d6ceefcdc71566ea48e5567df", "cd665cf6a8447dd6ff8b27555edb7465",
                "7b0c18e9ced410ed1804f2cfa34a336a1c14dffb4900bb5fd7942107e81c83cde9ca0faa60be9fe3"
                "4f82b1233c9146a0e534cb400fed2700884f9dc236f80edd8bfa961144c9e8d792eca722a7b32fc3"
                "d416d473ebc2c5fd4abfdad05d9184259b5bf8cd4d90fa0d31e2dec479e4f1a26066f2eea9a69236"
                "a3e52655c9e9aee691c8f3a26854308d5eaa3be85e0990703d73e56f"},
               {&ecr_sha512, "b0323523c1853599584d88568bbb05eb", "d4640e12e4bcdbfb437f03e6ae418ee5",
                "1261f588c798c5c201ff036e7a9cb5edcd7fe3f94c669a122a4638d7d508b283042df6789875c714"
                "7e906d868bc75c45e20eb40c1cf4a1713b27371f68432592f7dc8ea8ef223e12ea8507841311bf68"
                "653d0cfc4056d811f025c45ddfa6e6fec702f054b409d6f28dd0a3233e498da41a3e75c5630eedbe"
                "22fe254e33a1b0e9f6b9826675bec7d01a845658dc9c397545401d40b9f46c7a400ee1b8f81ca0a6"
                "0d1a397a1028bff5d2ef5066126842fb8da4197632bdb54ff6633f86bbc836e640d4d898"}};
  for (size_t i = 0; i < 3; i++) {
    const bytes secret = hex(cases[i].secret), seed = hex(cases[i].seed), out = hex(cases[i].out);
    uint8_t got[200];
    for (size_t n = out.n; n + 70 > out.n; n--) {
      memset(got, 0xa5, sizeof got);
      ecr_tls12_prf(cases[i].hash, secret.p, secret.n, "test label", seed.p, seed.n, got, n);
      if (!CHECK_BYTES(got, n, out.p, n) || !CHECK_INT(got[n], 0xa5)) break;
    }
  }
}

int main(void) {
  for (int portable = 0; portable < 2; portable++) {
    ecr_hash_force_portable(portable);
    hmac_examples();
    hmac_against_libcrypto();
    hkdf_examples();
    hkdf_lengths();
    labels();
    label_limits();
    prf();
  }
  return unit_done("kdf");
}
