// A certificate authority for one test. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/wire/tls_identity.h"

#include <memory>

namespace pdg {

/// Signs identities that trust each other. Keys are new for each authority.
class TestAuthority {
public:
  TestAuthority();
  ~TestAuthority();

  /// Makes the identity of one process.
  TlsIdentity issue();

private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
};

} // namespace pdg
