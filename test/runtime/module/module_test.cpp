// Modules are read as they were written, and refused if anything about them changed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/module/loaded_code.h"
#include "runtime/module/module.h"
#include "runtime/module/module.pb.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

namespace pdg::test {
namespace {

std::string codeBytes() {
  std::ifstream stream(PDG_TEST_CODE, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

Module sampleModule() {
  Module module;
  module.compiler = "pdc test";
  module.cluster = "one cluster";
  module.role = PeerKind::Server;
  module.index = 1;
  module.trainers = 4;
  module.servers = 2;
  module.info.variables = {{"counter", DType::I64, {}, true}};
  module.code = {{"avx2", codeBytes()}};
  return module;
}

std::string messageOf(const absl::StatusOr<Module> &module) {
  return std::string(module.status().message());
}

TEST(Module, IsReadAsWritten) {
  auto bytes = writeModule(sampleModule());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  auto module = readModule(*bytes, "m.pdm");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(roleOf(*module), "server 1");
  EXPECT_EQ(module->compiler, "pdc test");
  EXPECT_EQ(module->cluster, "one cluster");
  EXPECT_EQ(module->trainers, 4);
  EXPECT_EQ(module->servers, 2);
  EXPECT_EQ(toJson(module->info), toJson(sampleModule().info));
  EXPECT_EQ(module->code, sampleModule().code);
}

TEST(Module, RunsItsCode) {
  if (runnableIsas().empty())
    GTEST_SKIP() << "this processor runs neither avx2 nor avx512";
  auto code = LoadedCode::load(sampleModule());
  ASSERT_TRUE(code.ok()) << code.status();
  auto context = ExecutionContext::create(sampleModule().info, {});
  ASSERT_TRUE(context.ok()) << context.status();
  ASSERT_TRUE((*context)->run((*code)->init(), (*code)->main()));
  EXPECT_EQ((*context)->variables()[0].data<int64_t>()[0], 2);
}

TEST(Module, SaysWhichCodeIsMissing) {
  auto code = LoadedCode::load(sampleModule(), "avx512");
  ASSERT_FALSE(code.ok());
  EXPECT_NE(code.status().message().find("no code that this processor runs for avx512"),
            std::string_view::npos)
      << code.status();
  Module noCode = sampleModule();
  noCode.code["avx2"] = "no shared object";
  EXPECT_FALSE(LoadedCode::load(noCode).ok());
}

TEST(Module, MustBeSignedByTheJob) {
  auto key = SigningKey::generate(), otherKey = SigningKey::generate();
  ASSERT_TRUE(key.ok() && otherKey.ok());
  auto verifying = VerifyingKey::fromPem(key->publicPem().value());
  ASSERT_TRUE(verifying.ok()) << verifying.status();
  std::string unsignedBytes = writeModule(sampleModule()).value();
  std::string otherBytes = writeModule(sampleModule(), &*otherKey).value();
  std::string signedBytes = writeModule(sampleModule(), &*key).value();
  EXPECT_TRUE(readModule(signedBytes, "m.pdm", &*verifying).ok());
  EXPECT_EQ(messageOf(readModule(unsignedBytes, "m.pdm", &*verifying)),
            "m.pdm: the module is not signed, and the job signs its modules");
  EXPECT_EQ(messageOf(readModule(otherBytes, "m.pdm", &*verifying)),
            "m.pdm: the signature is not by the job's key");
  EXPECT_TRUE(readModule(otherBytes, "m.pdm").ok()) << "nobody asks for a signature";
}

TEST(Module, OfAnotherFormatIsRefused) {
  std::string bytes = writeModule(sampleModule()).value();
  module::File file;
  module::Manifest manifest;
  ASSERT_TRUE(file.ParseFromString(bytes.substr(8)));
  ASSERT_TRUE(manifest.ParseFromString(file.manifest()));
  manifest.set_format(kModuleFormat + 1);
  file.set_manifest(manifest.SerializeAsString());
  EXPECT_EQ(messageOf(readModule(bytes.substr(0, 8) + file.SerializeAsString(), "m.pdm")),
            "m.pdm: the module has format 2, this worker reads 1: compiler and worker are of "
            "different builds");
}

TEST(Module, OtherFilesAreRefused) {
  EXPECT_EQ(messageOf(readModule("", "a.txt")), "a.txt: no pdg module");
  EXPECT_EQ(messageOf(readModule("some text that is no module", "a.txt")), "a.txt: no pdg module");
  EXPECT_EQ(readModuleFile("no/such/file.pdm").status().code(), absl::StatusCode::kNotFound);
}

TEST(Module, DamageIsFound) {
  // Every cut and every changed byte is refused, or gives the same module.
  std::string bytes = writeModule(sampleModule()).value();
  std::mt19937 random(1);
  for (size_t size = 0; size < bytes.size(); size += 1 + random() % 97)
    EXPECT_FALSE(readModule(bytes.substr(0, size), "m.pdm").ok()) << size;
  size_t manifestSize = bytes.size() - codeBytes().size();
  for (int i = 0; i < 400; ++i) {
    std::string damaged = bytes;
    damaged[random() % (i % 2 ? manifestSize : bytes.size())] ^=
        static_cast<char>(1 + random() % 255);
    auto module = readModule(damaged, "m.pdm");
    if (module.ok())
      EXPECT_EQ(module->code, sampleModule().code);
  }
}

} // namespace
} // namespace pdg::test
