// Compiled programs on disk, found by their content.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/worker/program_info.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>

namespace pdg {

/// A folder with two files per program, `<key>.o` and `<key>.json`. The key is the hash of all that
/// the code depends on. Files are written under another name and renamed, so that readers see whole
/// ones; one that does not read back is treated as absent. When the folder cannot be written,
/// nothing is kept and nothing fails. Entries that were not used for 30 days are removed.
class ProgramCache {
public:
  /// Uses `$PDG_CACHE`, else `$XDG_CACHE_HOME/pdg`, else `~/.cache/pdg`.
  ProgramCache();

  /// The key of a program: `parts` and the identity of this executable.
  static std::string keyOf(llvm::ArrayRef<llvm::StringRef> parts);

  struct Entry {
    ProgramInfo info;
    std::unique_ptr<llvm::MemoryBuffer> object;
  };
  std::optional<Entry> find(llvm::StringRef key);
  void store(llvm::StringRef key, const ProgramInfo &info, const llvm::MemoryBuffer &object);

private:
  std::string folder_; ///< Empty: no place is known.
};

} // namespace pdg
