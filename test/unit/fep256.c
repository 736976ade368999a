/*
** fep256.c: the field of P-256, at its edges.
**
** also: nou128
*/
#include "crypto/fep256.h"

#define NAME "256"
#define CURVE ECR_P256
#define TABLE ecr_p256_g
#include "field_words.h"
