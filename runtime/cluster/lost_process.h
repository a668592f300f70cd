// What the others of a job know of a process that was lost.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/transport/exchange.h"
#include "runtime/worker/execution_context.h"

#include <optional>
#include <string>

namespace pdg {

/// What one of them waited for.
struct MissedMessage {
  std::string text;  ///< "message 7 of 'gradient of W' did not come", or empty if nobody knows.
  std::string place; ///< The line of the script, or empty.
};

/// Reads out of the error of a process what it missed of `peer`; nothing if it did not lose `peer`.
std::optional<MissedMessage> findMissed(Peer peer, const RunError &error);

} // namespace pdg
