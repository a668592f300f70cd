// The search order for data files, and the list of places in the error.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/data_files.h"

#include "test/runtime/data/data_files_fixture.h"

#include <cstdlib>

namespace pdg {
namespace {

class ResolveDataFileTest : public DataFilesTest {
protected:
  void SetUp() override {
    DataFilesTest::SetUp();
    setenv("PDG_DATA", (folder / "env").c_str(), 1);
    paths = {folder / "script", folder / "flag"};
  }
  void TearDown() override {
    unsetenv("PDG_DATA");
    DataFilesTest::TearDown();
  }

  DataPaths paths;
};

TEST_F(ResolveDataFileTest, LooksBesideTheScriptThenInTheFlagThenInTheEnvironment) {
  for (const char *place : {"env", "flag", "script"}) {
    std::string path = write(std::string(place) + "/a/x.csv", "x\n");
    absl::StatusOr<std::string> found = resolveDataFile("a/x.csv", paths);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, path);
  }
}

TEST_F(ResolveDataFileTest, TakesAnAbsoluteNameAsItIs) {
  std::string path = write("elsewhere/x.csv", "x\n");
  EXPECT_EQ(resolveDataFile(path, paths).value(), path);
  write("script/x.csv", "x\n");
  EXPECT_FALSE(resolveDataFile("/x.csv", paths).ok());
}

TEST_F(ResolveDataFileTest, ListsWhereItLooked) {
  std::filesystem::create_directories(folder / "flag/x.csv");
  absl::Status status = resolveDataFile("x.csv", paths).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  std::string root = folder.string();
  EXPECT_EQ(status.message(), "cannot find data file 'x.csv'; looked for '" + root +
                                  "/script/x.csv', '" + root + "/flag/x.csv' (a folder), '" + root +
                                  "/env/x.csv', '/usr/share/datasets/x.csv'; give its folder with "
                                  "--data-dir or in $PDG_DATA");
}

TEST_F(ResolveDataFileTest, APatternNamesTheFilesOfTheFirstFolderThatHasAny) {
  write("env/a-0.csv", "x\n");
  std::string last = write("flag/a-10.csv", "x\n"), first = write("flag/a-1.csv", "x\n");
  std::filesystem::create_directories(folder / "flag/a-2.csv");
  EXPECT_EQ(resolveDataFiles("a-*.csv", paths).value(), (std::vector<std::string>{first, last}));
  EXPECT_EQ(resolveDataFiles((folder / "flag/a-?.csv").string(), paths).value(),
            std::vector<std::string>{first});
  EXPECT_EQ(resolveDataFiles("a-[1-9].csv", paths).value(), std::vector<std::string>{first});
  std::string odd = write("script/a-*.csv", "x\n");
  EXPECT_EQ(resolveDataFiles("a-*.csv", paths).value(), std::vector<std::string>{odd});
  std::string root = folder.string();
  EXPECT_EQ(resolveDataFiles("b-*", paths).status().message(),
            "no file matches the pattern 'b-*'; looked for '" + root + "/script/b-*', '" + root +
                "/flag/b-*', '" + root + "/env/b-*', '/usr/share/datasets/b-*'");
}

TEST_F(ResolveDataFileTest, RefusesAnEmptyName) { EXPECT_FALSE(resolveDataFile("", paths).ok()); }

} // namespace
} // namespace pdg
