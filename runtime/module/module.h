// Modules: the compiled program of one role of a cluster with all its tables, as a .pdm file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/module/signature.h"
#include "runtime/transport/exchange.h"
#include "runtime/worker/program_info.h"

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pdg {

/// The version of the format that this build writes and reads.
inline constexpr uint32_t kModuleFormat = 1;

/// The compiled program of one role.
struct Module {
  std::string compiler; ///< Which build of the compiler made it.
  /// Equal for all modules of one cluster: processes whose modules differ in it do not talk.
  std::string cluster;
  PeerKind role = PeerKind::Trainer;
  int64_t index = 0; ///< Which server; 0 for trainers, which share one module.
  int64_t trainers = 1, servers = 0;
  ProgramInfo info;
  std::map<std::string, std::string>
      code; ///< Shared objects, by the name of their instruction set.
};

/// Returns "trainer" or "server 1": what the module is for.
std::string roleOf(const Module &module);

/// Returns the bytes of a .pdm file, signed if there is a key.
absl::StatusOr<std::string> writeModule(const Module &module, const SigningKey *key = nullptr);

/// Reads what writeModule wrote. With a key, the module must be signed by its other half; without
/// one a signature is not looked at. The error says whether the file is no module, of another
/// format, damaged, or not signed by the job. `name` is the file's, for messages.
absl::StatusOr<Module> readModule(std::string_view bytes, const std::string &name,
                                  const VerifyingKey *key = nullptr);

/// Reads the file `path`, which is at most 4 GiB long, as readModule does.
absl::StatusOr<Module> readModuleFile(const std::string &path, const VerifyingKey *key = nullptr);

} // namespace pdg
