// Modules of the roles of a program: what `pdc build` writes, and what `pdc run` gives to the
// processes that it starts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"
#include "tools/run_native.h"

#include <absl/status/statusor.h>

#include <map>
#include <span>
#include <string>

namespace pdg {

/// The compiled program of one role.
struct BuiltRole {
  Peer role; ///< Trainer 0 stands for all trainers.
  ProgramInfo info = {};
  std::map<std::string, std::string> libraries = {}; ///< Shared objects, by instruction set.
};

/// Adds the code for one instruction set to `role`. All of them run with the same tables.
absl::Status addCode(BuiltRole &role, const NativeObject &object);

/// Returns the name that all modules of one program on one cluster share, and no others.
std::string identityOf(const Topology &topology, std::span<const BuiltRole> roles);

/// Returns the bytes of the .pdm file of each role.
absl::StatusOr<std::map<Peer, std::string>> makeModules(const Topology &topology,
                                                        std::span<const BuiltRole> roles);

} // namespace pdg
