// Hashes and signatures of modules.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <absl/status/statusor.h>

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace pdg {

/// Returns the SHA-256 of `bytes`, 32 bytes.
std::string sha256(std::string_view bytes);

/// The job's half of a pair of keys that signs (Ed25519, RFC 8032).
class SigningKey {
public:
  /// Makes a new one.
  static absl::StatusOr<SigningKey> generate();
  /// Reads one from PEM text.
  static absl::StatusOr<SigningKey> fromPem(std::string_view pem);

  /// The key as PEM text, which only the job may read.
  absl::StatusOr<std::string> toPem() const;
  /// The other half as PEM text, for the workers.
  absl::StatusOr<std::string> publicPem() const;
  absl::StatusOr<std::string> sign(std::string_view bytes) const;

private:
  std::shared_ptr<evp_pkey_st> key_;
};

/// The half of a pair of keys that tells whether the other one signed.
class VerifyingKey {
public:
  static absl::StatusOr<VerifyingKey> fromPem(std::string_view pem);
  /// Ok, or PermissionDenied.
  absl::Status verify(std::string_view bytes, std::string_view signature) const;

private:
  std::shared_ptr<evp_pkey_st> key_;
};

} // namespace pdg
