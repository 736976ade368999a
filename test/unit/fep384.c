/*
** fep384.c: the field of P-384, at its edges.
**
** also: nou128
*/
#include "crypto/fep384.h"

#define NAME "384"
#define CURVE ECR_P384
#define TABLE ecr_p384_g
#include "field_words.h"
