// Reads and writes the cache of compiled programs.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/jit/program_cache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>

using namespace llvm;

namespace pdg {

static std::string folderFromEnvironment() {
  if (const char *folder = std::getenv("PDG_CACHE"))
    return folder;
  SmallString<128> path;
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    path = cache;
  else if (const char *home = std::getenv("HOME"); home && *home)
    sys::path::append(path, home, ".cache");
  else
    return "";
  sys::path::append(path, "pdg");
  return std::string(path);
}

/// Removes what was not read for 30 days. Errors do not matter: the next run tries again.
static void removeOld(StringRef folder) {
  auto now = std::chrono::system_clock::now();
  std::error_code error;
  for (sys::fs::directory_iterator entry(folder, error), end; entry != end && !error;
       entry.increment(error)) {
    sys::fs::file_status status;
    if (!sys::fs::status(entry->path(), status) &&
        now - status.getLastModificationTime() > std::chrono::hours(24 * 30))
      sys::fs::remove(entry->path());
  }
}

ProgramCache::ProgramCache() : folder_(folderFromEnvironment()) {
  if (!folder_.empty() && sys::fs::create_directories(folder_))
    folder_.clear();
}

/// What changes when the compiler does: the size and time of its file.
static std::string identityOfExecutable() {
  sys::fs::file_status status;
  if (sys::fs::status("/proc/self/exe", status))
    return "";
  return std::to_string(status.getSize()) + "-" +
         std::to_string(status.getLastModificationTime().time_since_epoch().count());
}

std::string ProgramCache::keyOf(ArrayRef<StringRef> parts) {
  SHA256 hash;
  auto add = [&](StringRef part) {
    // Lengths keep parts apart.
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  };
  add(identityOfExecutable());
  for (StringRef part : parts)
    add(part);
  return toHex(hash.final(), /*LowerCase=*/true);
}

static std::string fileOf(StringRef folder, StringRef key, StringRef suffix) {
  SmallString<128> path(folder);
  sys::path::append(path, key + suffix);
  return std::string(path);
}

std::optional<ProgramCache::Entry> ProgramCache::find(StringRef key) {
  if (folder_.empty())
    return std::nullopt;
  auto text = MemoryBuffer::getFile(fileOf(folder_, key, ".json"));
  auto object = MemoryBuffer::getFile(fileOf(folder_, key, ".o"), false, false);
  Entry entry;
  if (!text || !object)
    return std::nullopt;
  // The first line is the hash of the object: a damaged one must not be run.
  auto [hash, json] = (*text)->getBuffer().split('\n');
  if (hash != keyOf({(*object)->getBuffer()}) || !fromJson(json.str(), entry.info))
    return std::nullopt;
  entry.object = std::move(*object);
  return entry;
}

/// Writes `content` to a temporary name beside `path` and renames it.
static bool writeWhole(const std::string &path, StringRef content) {
  int file;
  SmallString<128> temporary;
  if (sys::fs::createUniqueFile(path + ".%%%%%%%%", file, temporary))
    return false;
  raw_fd_ostream out(file, /*shouldClose=*/true);
  out << content;
  out.close();
  bool isWritten = !out.has_error();
  out.clear_error();
  if (isWritten && !sys::fs::rename(temporary, path))
    return true;
  sys::fs::remove(temporary);
  return false;
}

void ProgramCache::store(StringRef key, const ProgramInfo &info, const MemoryBuffer &object) {
  if (folder_.empty())
    return;
  removeOld(folder_);
  std::string text = keyOf({object.getBuffer()}) + "\n" + toJson(info);
  if (writeWhole(fileOf(folder_, key, ".o"), object.getBuffer()))
    writeWhole(fileOf(folder_, key, ".json"), text);
}

} // namespace pdg
