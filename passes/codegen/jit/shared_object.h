// Links compiled programs for workers, which load them without a compiler.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace pdg {

/// Links `object`, or an archive of objects (what compileToObject makes), into a shared object
/// whose bytes depend on nothing else. What it calls is found by whoever loads it. Runs LLVM's
/// linker `ld.lld`, and fails if there is none, or with what it says.
llvm::Expected<std::string> linkSharedObject(llvm::StringRef object);

} // namespace pdg
