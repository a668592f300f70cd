// Runs the linker on files in a folder of its own, which is removed afterwards.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/jit/shared_object.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pdg {

static Error failure(const Twine &text) {
  return createStringError(inconvertibleErrorCode(), text);
}

static std::string textOf(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

/// The linker that belongs to this compiler, or any other of its kind.
static ErrorOr<std::string> findLinker() {
  StringRef folders[] = {"/usr/lib/llvm-22/bin"};
  for (StringRef name : {"ld.lld-22", "ld.lld"})
    if (auto path = sys::findProgramByName(name))
      return path;
  return sys::findProgramByName("ld.lld", folders);
}

Expected<std::string> linkSharedObject(StringRef object) {
  ErrorOr<std::string> linker = findLinker();
  if (!linker)
    return failure("there is no linker 'ld.lld' (Debian's package lld-22 has it)");
  SmallString<128> folder;
  if (std::error_code error = sys::fs::createUniqueDirectory("pdg-link", folder))
    return failure("cannot make a temporary folder: " + error.message());
  scope_exit remove([&] { sys::fs::remove_directories(folder); });
  auto pathOf = [&](StringRef name) {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    return std::string(path);
  };
  std::string input = pathOf("in.o"), output = pathOf("out.so"), messages = pathOf("messages");
  std::error_code error;
  raw_fd_ostream stream(input, error);
  stream << object;
  stream.close();
  if (error || stream.has_error())
    return failure("cannot write " + input);
  // All of an archive, since nothing refers to its objects yet. No build id and no path gets in.
  StringRef arguments[] = {*linker,       "-shared",    "--whole-archive", input,
                           "-o",          output,       "--build-id=none", "-z",
                           "noexecstack", "--threads=1"};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(messages), StringRef(messages)};
  std::string reason;
  int status = sys::ExecuteAndWait(*linker, arguments, std::nullopt, redirects, 0, 0, &reason);
  if (status != 0)
    return failure("linking failed: " + (reason.empty() ? textOf(messages) : reason));
  return textOf(output);
}

} // namespace pdg
