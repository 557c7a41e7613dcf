#pragma once
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/* A selection that Swift cannot read, because it is made of macros (EVP_PKEY_fromdata(3)). */
static const int ccrypto_public_key = EVP_PKEY_PUBLIC_KEY;

/* A builder keeps the addresses of names and values until it is done, and Swift hands over the bytes of a
   string for one call only. What else is handed over must live until OSSL_PARAM_BLD_to_param(3). */
static inline int ccrypto_push_rsa(OSSL_PARAM_BLD *builder, const BIGNUM *modulus, const BIGNUM *exponent) {
  return OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
         OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1;
}

static inline int ccrypto_push_p256(OSSL_PARAM_BLD *builder, const unsigned char *point, size_t bytes) {
  return OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
         OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, bytes) == 1;
}
