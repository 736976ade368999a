/*
** crypto/gcm_openssl.c: AES-GCM by the machine's own libcrypto, for those who must or want to use it.
** Nothing is linked: the functions below are looked up when the back end is first asked for, which
** takes about 6 ms. Signatures and constants are as in <openssl/evp.h>, the same since 1.1.0.
*/
#include "cryptoInt.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
static const char *const names[] = {"libcrypto-3-x64.dll", "libcrypto-3.dll",
                                    "libcrypto-1_1-x64.dll", NULL};
static void *library_open(const char *name) { return (void *)LoadLibraryA(name); }
static void *library_symbol(void *library, const char *name) {
  return (void *)(uintptr_t)GetProcAddress((HMODULE)library, name);
}
#else
#include <dlfcn.h>
static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.3.dylib",
                                    NULL};
static void *library_open(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
static void *library_symbol(void *library, const char *name) { return dlsym(library, name); }
#endif

#define CTRL_GET_TAG 0x10
#define CTRL_SET_TAG 0x11

typedef struct EVP_CIPHER EVP_CIPHER;
typedef struct EVP_CIPHER_CTX EVP_CIPHER_CTX;

static struct functions {
  EVP_CIPHER_CTX *(*context_new)(void);
  void (*context_free)(EVP_CIPHER_CTX *);
  const EVP_CIPHER *(*aes_128_gcm)(void);
  const EVP_CIPHER *(*aes_256_gcm)(void);
  int (*init)(EVP_CIPHER_CTX *, const EVP_CIPHER *, void *engine, const unsigned char *key,
              const unsigned char *iv, int encrypt);
  int (*update)(EVP_CIPHER_CTX *, unsigned char *out, int *written, const unsigned char *in, int n);
  int (*final)(EVP_CIPHER_CTX *, unsigned char *out, int *written);
  int (*ctrl)(EVP_CIPHER_CTX *, int type, int n, void *p);
  int (*set_mark)(void);
  int (*pop_to_mark)(void);
} evp;

static const struct symbol {
  const char *name;
  size_t at;
} symbols[] = {
    {"EVP_CIPHER_CTX_new", offsetof(struct functions, context_new)},
    {"EVP_CIPHER_CTX_free", offsetof(struct functions, context_free)},
    {"EVP_aes_128_gcm", offsetof(struct functions, aes_128_gcm)},
    {"EVP_aes_256_gcm", offsetof(struct functions, aes_256_gcm)},
    {"EVP_CipherInit_ex", offsetof(struct functions, init)},
    {"EVP_CipherUpdate", offsetof(struct functions, update)},
    {"EVP_CipherFinal_ex", offsetof(struct functions, final)},
    {"EVP_CIPHER_CTX_ctrl", offsetof(struct functions, ctrl)},
    {"ERR_set_mark", offsetof(struct functions, set_mark)},
    {"ERR_pop_to_mark", offsetof(struct functions, pop_to_mark)},
};

/* ---- Loading ------------------------------------------------------------------------------------ */

const char *ecr_openssl_library;

/* The library stays loaded: it registers handlers for the end of the process. */
static int find(void) {
  const char *const only[] = {ecr_openssl_library, NULL};
  void *library = NULL;
  for (const char *const *name = ecr_openssl_library ? only : names; *name && !library; name++) {
    library = library_open(*name);
  }
  if (!library) return 0;
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *symbol = library_symbol(library, symbols[i].name);
    if (!symbol) return 0;
    memcpy((char *)&evp + symbols[i].at, &symbol, sizeof symbol);
  }
  return 1;
}

int ecr_openssl_found(void) {
  static atomic_int state; /* 0: nobody looked, 1: somebody is looking, 2: not there, 3: found */
  int now = 0;
  if (atomic_compare_exchange_strong(&state, &now, 1)) {
    now = find() ? 3 : 2;
    atomic_store_explicit(&state, now, memory_order_release);
  }
  while (now == 1) now = atomic_load_explicit(&state, memory_order_acquire);
  return now == 3;
}

/* ---- Records ------------------------------------------------------------------------------------ */

typedef struct openssl_key {
  EVP_CIPHER_CTX *decrypt, *encrypt;
} openssl_key;

static openssl_key *key_of(ecr_aead_context *context) {
  return (openssl_key *)(void *)context->bytes;
}

/* Lengths are ints there. out is NULL for what is only authenticated. */
static int update(EVP_CIPHER_CTX *c, const uint8_t *in, size_t n, uint8_t *out) {
  while (n) {
    const int now = n < INT_MAX / 2 ? (int)n : INT_MAX / 2;
    int written;
    if (evp.update(c, out, &written, in, now) != 1) return 0;
    in += now;
    if (out) out += now;
    n -= (size_t)now;
  }
  return 1;
}

static int start(EVP_CIPHER_CTX *c, const uint8_t nonce[ECR_NONCE], const uint8_t *aad,
                 size_t aad_size) {
  return evp.init(c, NULL, NULL, NULL, nonce, -1) == 1 && update(c, aad, aad_size, NULL);
}

/* What goes wrong is not left behind in a queue that the host may look at. */
static int final(EVP_CIPHER_CTX *c) {
  uint8_t none[ECR_TAG];
  int written;
  evp.set_mark();
  const int ok = evp.final(c, none, &written) == 1;
  evp.pop_to_mark();
  return ok;
}

static ecr_status seal(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  EVP_CIPHER_CTX *c = key_of(context)->encrypt;
  const ecr_status status = ecr_gcm_check_seal(n, out_size);
  if (status) return status;
  if (start(c, nonce, aad, aad_size) && update(c, in, n, out) && final(c) &&
      evp.ctrl(c, CTRL_GET_TAG, ECR_TAG, out + n) == 1) {
    return ECR_OK;
  }
  memset(out, 0, n + ECR_TAG);
  return ECR_NOT_FOUND; /* only where it ran out of memory */
}

static ecr_status open(ecr_aead_context *context, const uint8_t nonce[ECR_NONCE],
                       const uint8_t *aad, size_t aad_size, const uint8_t *in, size_t n,
                       uint8_t *out, size_t out_size) {
  EVP_CIPHER_CTX *c = key_of(context)->decrypt;
  uint8_t tag[ECR_TAG];
  const ecr_status status = ecr_gcm_check_open(n, out_size);
  if (status) return status;
  n -= ECR_TAG;
  memcpy(tag, in + n, ECR_TAG);
  if (start(c, nonce, aad, aad_size) && update(c, in, n, out) &&
      evp.ctrl(c, CTRL_SET_TAG, ECR_TAG, tag) == 1 && final(c)) {
    return ECR_OK;
  }
  if (n) memset(out, 0, n);
  return ECR_REFUSED;
}

static void clear(ecr_aead_context *context) {
  openssl_key *key = key_of(context);
  if (ecr_openssl_found()) {
    evp.context_free(key->decrypt);
    evp.context_free(key->encrypt);
  }
  memset(key, 0, sizeof *key);
}

static ecr_status init(ecr_aead_context *context, const uint8_t *bytes, int is_256) {
  openssl_key *key = key_of(context);
  memset(key, 0, sizeof *key);
  if (!ecr_openssl_found()) return ECR_NOT_FOUND;
  const EVP_CIPHER *cipher = is_256 ? evp.aes_256_gcm() : evp.aes_128_gcm();
  key->decrypt = evp.context_new();
  key->encrypt = evp.context_new();
  if (key->decrypt && key->encrypt && evp.init(key->decrypt, cipher, NULL, bytes, NULL, 0) == 1 &&
      evp.init(key->encrypt, cipher, NULL, bytes, NULL, 1) == 1) {
    return ECR_OK;
  }
  clear(context);
  return ECR_NOT_FOUND;
}

static ecr_status init_128(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 0);
}

static ecr_status init_256(ecr_aead_context *context, const uint8_t *key) {
  return init(context, key, 1);
}

const ecr_aead ecr_gcm_openssl[2] = {
    {"aes128gcm", "openssl", 16, sizeof(openssl_key), init_128, seal, open, clear},
    {"aes256gcm", "openssl", 32, sizeof(openssl_key), init_256, seal, open, clear},
};
