// Hashes and signatures of modules, by OpenSSL.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/module/signature.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <absl/strings/str_cat.h>

namespace pdg {
namespace {

using Bio = std::unique_ptr<BIO, int (*)(BIO *)>;
using Digest = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX *)>;

const unsigned char *bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

absl::Status failed(const char *what) {
  char reason[256] = "unknown";
  if (unsigned long code = ERR_get_error())
    ERR_error_string_n(code, reason, sizeof reason);
  ERR_clear_error();
  return absl::InvalidArgumentError(absl::StrCat(what, ": ", reason));
}

Bio readerOf(std::string_view text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free};
}

std::string contentOf(BIO *bio) {
  char *data = nullptr;
  long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<size_t>(size)};
}

/// Ok if `key` was read and is of the one kind that jobs have.
absl::Status checkKind(const EVP_PKEY *key) {
  if (!key)
    return failed("cannot read a key");
  if (EVP_PKEY_get_id(key) != EVP_PKEY_ED25519)
    return absl::InvalidArgumentError("a job's key is an Ed25519 key, this one is not");
  return absl::OkStatus();
}

} // namespace

std::string sha256(std::string_view bytes) {
  std::string hash(EVP_MAX_MD_SIZE, '\0');
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char *>(hash.data()), &size,
             EVP_sha256(), nullptr);
  hash.resize(size);
  return hash;
}

absl::StatusOr<SigningKey> SigningKey::generate() {
  SigningKey key;
  key.key_ = {EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free};
  if (!key.key_)
    return failed("cannot make a key");
  return key;
}

absl::StatusOr<SigningKey> SigningKey::fromPem(std::string_view pem) {
  Bio bio = readerOf(pem);
  SigningKey key;
  key.key_ = {PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
  if (absl::Status status = checkKind(key.key_.get()); !status.ok())
    return status;
  return key;
}

absl::StatusOr<std::string> SigningKey::toPem() const {
  Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  if (!PEM_write_bio_PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr))
    return failed("cannot write a key");
  return contentOf(bio.get());
}

absl::StatusOr<std::string> SigningKey::publicPem() const {
  Bio bio(BIO_new(BIO_s_mem()), BIO_free);
  if (!PEM_write_bio_PUBKEY(bio.get(), key_.get()))
    return failed("cannot write a key");
  return contentOf(bio.get());
}

absl::StatusOr<std::string> SigningKey::sign(std::string_view bytes) const {
  Digest digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::string signature(64, '\0');
  size_t size = signature.size();
  if (EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char *>(signature.data()), &size,
                     bytesOf(bytes), bytes.size()) != 1)
    return failed("cannot sign");
  signature.resize(size);
  return signature;
}

absl::StatusOr<VerifyingKey> VerifyingKey::fromPem(std::string_view pem) {
  Bio bio = readerOf(pem);
  VerifyingKey key;
  key.key_ = {PEM_read_bio_PUBKEY(bio.get(), nullptr, nullptr, nullptr), EVP_PKEY_free};
  if (absl::Status status = checkKind(key.key_.get()); !status.ok())
    return status;
  return key;
}

absl::Status VerifyingKey::verify(std::string_view bytes, std::string_view signature) const {
  Digest digest(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key_.get()) != 1)
    return failed("cannot verify");
  if (EVP_DigestVerify(digest.get(), bytesOf(signature), signature.size(), bytesOf(bytes),
                       bytes.size()) == 1)
    return absl::OkStatus();
  ERR_clear_error();
  return absl::PermissionDeniedError("the signature is not by the job's key");
}

} // namespace pdg
