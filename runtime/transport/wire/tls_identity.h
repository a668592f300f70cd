// Who a process is beyond the loopback. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace pdg {

/// What proves to others that a process belongs to the job, and to it that they do: texts in PEM.
struct TlsIdentity {
  /// The certificate of the job's authority; every process has one that it signed.
  std::string authority;
  /// For the name "pdg", whatever the host.
  std::string certificate;
  std::string key;
};

} // namespace pdg
