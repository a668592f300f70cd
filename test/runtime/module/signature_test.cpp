// Hashes and signatures.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/module/signature.h"

#include <gtest/gtest.h>

#include <absl/strings/escaping.h>

namespace pdg::test {
namespace {

TEST(Signature, HashIsTheStandards) {
  // FIPS 180-4: the hash of "abc".
  EXPECT_EQ(absl::BytesToHexString(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Signature, IsVerifiedByTheOtherHalfOnly) {
  auto key = SigningKey::generate(), other = SigningKey::generate();
  ASSERT_TRUE(key.ok() && other.ok());
  auto verifying = VerifyingKey::fromPem(key->publicPem().value());
  ASSERT_TRUE(verifying.ok()) << verifying.status();
  std::string signature = key->sign("text").value();
  EXPECT_TRUE(verifying->verify("text", signature).ok());
  EXPECT_FALSE(verifying->verify("texT", signature).ok());
  EXPECT_FALSE(verifying->verify("text", other->sign("text").value()).ok());
  EXPECT_FALSE(verifying->verify("text", "").ok());
}

TEST(Signature, KeysSurviveTheirText) {
  SigningKey key = SigningKey::generate().value();
  auto again = SigningKey::fromPem(key.toPem().value());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->sign("text").value(), key.sign("text").value());
}

TEST(Signature, OtherTextIsNoKey) {
  EXPECT_FALSE(SigningKey::fromPem("no key").ok());
  EXPECT_FALSE(VerifyingKey::fromPem("").ok());
  SigningKey key = SigningKey::generate().value();
  EXPECT_FALSE(VerifyingKey::fromPem(key.toPem().value()).ok()) << "the half that signs";
}

} // namespace
} // namespace pdg::test
