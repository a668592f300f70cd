// Merges the programs of the roles of a cluster into the one that they were cut from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/distribute/insert_send_recv_roles.h"

#include <map>

namespace pdg {

/// Fills `joined`, an empty program, with what the programs of all roles do together. Fails with an
/// error at the op if they do not fit: something is sent and not received, or never sent, or what
/// several roles compute for themselves differs.
mlir::LogicalResult mergePrograms(const std::map<RoleId, ProgramOp> &programs, ProgramOp joined);

} // namespace pdg
