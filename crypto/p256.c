/*
** p256.c: the curve P-256 (SP 800-186 3.2.1.3, secp256r1): its numbers, around weierstrass.h.
*/
#include "fep256.h"

/* b of y² = x³ - 3x + b, in Montgomery's form. */
static const fe curve_b = {{UINT64_C(0xd89cdf6229c4bddf), UINT64_C(0xacf005cd78843090),
                            UINT64_C(0xe5a220abf7212ed6), UINT64_C(0xdc30061d04874834)}};

/* The order n of the group. */
static const ecr_order curve_order = {LIMBS,
                                      {UINT64_C(0xf3b9cac2fc632551), UINT64_C(0xbce6faada7179e84),
                                       UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffff00000000)},
                                      {UINT64_C(0x83244c95be79eea2), UINT64_C(0x4699799c49bd6fa6),
                                       UINT64_C(0x2845b2392b6bec59), UINT64_C(0x66e12d94f3d95620)},
                                      UINT64_C(0xccd1c8aaee00bc4f)};

#define curve_g ecr_p256_g
#define CURVE ecr_ec_p256
#include "weierstrass.h"
