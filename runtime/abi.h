// Declares the C functions of abi.def; implemented in runtime/worker/.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

extern "C" {
#define PDG_ABI(result, name, parameters) result name parameters;
#include "runtime/abi.def"
}
