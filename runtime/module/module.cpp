// Reads and writes .pdm files. Reading trusts nothing: a file may come from anywhere.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/module/module.h"
#include "runtime/module/module.pb.h"

#include <absl/strings/str_cat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace pdg {
namespace {

/// What every .pdm file begins with. The bytes behind the name are changed by whatever takes a
/// file for text.
constexpr std::string_view kMagic{"PDM\x1a\r\n\x89\n", 8};

/// A protobuf message cannot be longer.
constexpr size_t kMaxBytes = size_t{1} << 31;

absl::Status refuse(const std::string &name, std::string_view why) {
  return absl::InvalidArgumentError(name + ": " + std::string(why));
}

std::string_view nameOfRole(PeerKind role) {
  return role == PeerKind::Trainer ? "trainer" : "server";
}

module::Manifest manifestOf(const Module &module) {
  module::Manifest manifest;
  manifest.set_format(kModuleFormat);
  manifest.set_compiler(module.compiler);
  manifest.set_cluster(module.cluster);
  manifest.set_role(std::string(nameOfRole(module.role)));
  manifest.set_index(module.index);
  manifest.set_trainers(module.trainers);
  manifest.set_servers(module.servers);
  manifest.set_tables(toJson(module.info));
  for (const auto &[isa, library] : module.code) {
    module::CodeHash *hash = manifest.add_code();
    hash->set_isa(isa);
    hash->set_hash(sha256(library));
  }
  return manifest;
}

/// Fills `module` from the manifest, whose format is known. Says what is wrong with it, or nothing.
std::string_view takeManifest(const module::Manifest &manifest, Module &module) {
  if (manifest.role() != "trainer" && manifest.role() != "server")
    return "the manifest names no role";
  module.role = manifest.role() == "trainer" ? PeerKind::Trainer : PeerKind::Server;
  module.compiler = manifest.compiler();
  module.cluster = manifest.cluster();
  module.index = manifest.index();
  module.trainers = manifest.trainers();
  module.servers = manifest.servers();
  int64_t count = module.role == PeerKind::Trainer ? 1 : module.servers;
  if (module.trainers < 1 || module.servers < 0 || module.index < 0 || module.index >= count)
    return "the manifest's role is none of its cluster";
  if (!fromJson(manifest.tables(), module.info))
    return "the tables of the program are damaged";
  return {};
}

/// Takes the code that the manifest lists; says what is wrong with it, or nothing.
std::string_view takeCode(module::File &file, const module::Manifest &manifest, Module &module) {
  for (module::Code &code : *file.mutable_code()) {
    const auto &hashes = manifest.code();
    bool isListed = std::any_of(hashes.begin(), hashes.end(), [&](const module::CodeHash &hash) {
      return hash.isa() == code.isa() && hash.hash() == sha256(code.library());
    });
    if (!isListed)
      return "the code is not what the manifest lists: the file is damaged";
    module.code[code.isa()] = std::move(*code.mutable_library());
  }
  if (static_cast<int>(module.code.size()) != manifest.code_size())
    return "code is missing that the manifest lists: the file is damaged";
  return {};
}

} // namespace

std::string roleOf(const Module &module) {
  return module.role == PeerKind::Trainer ? "trainer" : absl::StrCat("server ", module.index);
}

absl::StatusOr<std::string> writeModule(const Module &module, const SigningKey *key) {
  module::File file;
  file.set_manifest(manifestOf(module).SerializeAsString());
  if (key) {
    auto signature = key->sign(file.manifest());
    if (!signature.ok())
      return signature.status();
    file.set_signature(*std::move(signature));
  }
  for (const auto &[isa, library] : module.code) {
    module::Code *code = file.add_code();
    code->set_isa(isa);
    code->set_library(library);
  }
  if (file.ByteSizeLong() >= kMaxBytes)
    return absl::ResourceExhaustedError("a module is at most 2 GiB long");
  return std::string(kMagic) + file.SerializeAsString();
}

absl::StatusOr<Module> readModule(std::string_view bytes, const std::string &name,
                                  const VerifyingKey *key) {
  if (!bytes.starts_with(kMagic))
    return refuse(name, "no pdg module");
  bytes.remove_prefix(kMagic.size());
  module::File file;
  if (bytes.size() >= kMaxBytes ||
      !file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return refuse(name, "the module is damaged or cut off");
  if (key) {
    if (file.signature().empty())
      return absl::PermissionDeniedError(
          name + ": the module is not signed, and the job signs its modules");
    if (absl::Status status = key->verify(file.manifest(), file.signature()); !status.ok())
      return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
  }
  module::Manifest manifest;
  if (!manifest.ParseFromString(file.manifest()))
    return refuse(name, "the manifest is damaged");
  if (manifest.format() != kModuleFormat)
    return refuse(name,
                  absl::StrCat("the module has format ", manifest.format(), ", this worker reads ",
                               kModuleFormat, ": compiler and worker are of different builds"));
  Module module;
  for (std::string_view problem :
       {takeManifest(manifest, module), takeCode(file, manifest, module)})
    if (!problem.empty())
      return refuse(name, problem);
  return module;
}

absl::StatusOr<Module> readModuleFile(const std::string &path, const VerifyingKey *key) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream)
    return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
  std::streamoff size = stream.tellg();
  if (size < 0 || static_cast<size_t>(size) > kMaxBytes + kMagic.size())
    return refuse(path, "no pdg module");
  std::string bytes(static_cast<size_t>(size), '\0');
  stream.seekg(0);
  if (!stream.read(bytes.data(), size))
    return absl::DataLossError(absl::StrCat("cannot read ", path));
  return readModule(bytes, path, key);
}

} // namespace pdg
