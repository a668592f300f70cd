// Certificates on the curve P-256, valid for an hour. SPDX-License-Identifier: Apache-2.0
#include "test/runtime/transport/test_authority.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <string>

namespace pdg {

struct TestAuthority::Keys {
  EVP_PKEY *key = nullptr;
  X509 *certificate = nullptr;
};

namespace {

void addExtension(X509 *certificate, X509 *issuer, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

/// A certificate of `key` for `name`, signed by the issuer; by itself if there is none.
X509 *makeCertificate(EVP_PKEY *key, const char *name, X509 *issuer, EVP_PKEY *issuerKey) {
  static long serial = 1;
  X509 *made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made), -60);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char *>(name), -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(issuer ? issuer : made));
  if (issuer)
    addExtension(made, issuer, NID_subject_alt_name, "DNS:pdg");
  else
    addExtension(made, made, NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(made, issuerKey ? issuerKey : key, EVP_sha256());
  return made;
}

template <typename Write> std::string toPem(Write write) {
  BIO *memory = BIO_new(BIO_s_mem());
  write(memory);
  char *bytes = nullptr;
  long size = BIO_get_mem_data(memory, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(memory);
  return text;
}

} // namespace

TestAuthority::TestAuthority() : keys_(std::make_unique<Keys>()) {
  keys_->key = EVP_EC_gen("P-256");
  keys_->certificate = makeCertificate(keys_->key, "test authority", nullptr, nullptr);
}

TestAuthority::~TestAuthority() {
  X509_free(keys_->certificate);
  EVP_PKEY_free(keys_->key);
}

TlsIdentity TestAuthority::issue() {
  EVP_PKEY *key = EVP_EC_gen("P-256");
  X509 *certificate = makeCertificate(key, "pdg", keys_->certificate, keys_->key);
  TlsIdentity identity;
  identity.authority = toPem([&](BIO *out) { PEM_write_bio_X509(out, keys_->certificate); });
  identity.certificate = toPem([&](BIO *out) { PEM_write_bio_X509(out, certificate); });
  identity.key = toPem(
      [&](BIO *out) { PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
  X509_free(certificate);
  EVP_PKEY_free(key);
  return identity;
}

} // namespace pdg
