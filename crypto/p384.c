/*
** p384.c: the curve P-384 (SP 800-186 3.2.1.4, secp384r1): its numbers, around weierstrass.h.
*/
#include "fep384.h"

/* b of y² = x³ - 3x + b, in Montgomery's form. */
static const fe curve_b = {{UINT64_C(0x081188719d412dcc), UINT64_C(0xf729add87a4c32ec),
                            UINT64_C(0x77f2209b1920022e), UINT64_C(0xe3374bee94938ae2),
                            UINT64_C(0xb62b21f41f022094), UINT64_C(0xcd08114b604fbff9)}};

/* The order n of the group. */
static const ecr_order curve_order = {
    LIMBS,
    {UINT64_C(0xecec196accc52973), UINT64_C(0x581a0db248b0a77a), UINT64_C(0xc7634d81f4372ddf),
     UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)},
    {UINT64_C(0x2d319b2419b409a9), UINT64_C(0xff3d81e5df1aa419), UINT64_C(0xbc3e483afcb82947),
     UINT64_C(0xd40d49174aab1cc5), UINT64_C(0x3fb05b7a28266895), UINT64_C(0x0c84ee012b39bf21)},
    UINT64_C(0x6ed46089e88fdc45)};

#define curve_g ecr_p384_g
#define CURVE ecr_ec_p384
#include "weierstrass.h"
