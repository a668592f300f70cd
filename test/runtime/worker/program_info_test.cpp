// ProgramInfo survives its JSON form, and damaged text is refused, not trusted.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/program_info.h"

#include <gtest/gtest.h>

#include <random>

namespace pdg {
namespace {

ProgramInfo makeInfo() {
  ProgramInfo info;
  info.variables = {{"net.hidden.W", DType::F32, {784, 256}, true},
                    {"net.hidden.W/adam.t", DType::I64, {}, false}};
  info.sources = {{"train",
                   "csv",
                   {"a \"b\".csv"},
                   64,
                   true,
                   100,
                   -7,
                   5,
                   kDynamicSize,
                   0.1,
                   1,
                   2,
                   {{"target", {"price"}}, {"columns", {"", true, {{"a"}, {"", true, {{"b"}}}}}}},
                   {{DType::F32, {3}}, {DType::F32, {}}},
                   "model.pdg:3:1"}};
  info.inputs = {{"x", DType::BF16, {0, 4}}};
  info.texts = {{{"loss ", "\n"}, {{DType::F64, 1, 8, 4, true}}, "PD2001", "model.pdg:4:2", "é"}};
  info.fetches = {{"loss", DType::Bool, {kDynamicSize, 2}}};
  info.arenaBytes = int64_t{1} << 40;
  return info;
}

TEST(ProgramInfo, SurvivesJson) {
  std::string text = toJson(makeInfo());
  ProgramInfo read;
  ASSERT_TRUE(fromJson(text, read));
  EXPECT_EQ(toJson(read), text);
  EXPECT_EQ(read.variables[0].shape, (std::vector<int64_t>{784, 256}));
  EXPECT_TRUE(read.variables[0].isParam);
  EXPECT_EQ(read.sources[0].files[0], "a \"b\".csv");
  EXPECT_EQ(read.sources[0].seed, -7);
  EXPECT_EQ(read.sources[0].from, 0.1);
  EXPECT_EQ(read.sources[0].options[1].value.list[1].list[0].text, "b");
  EXPECT_EQ(read.texts[0].values[0].precision, 4);
  EXPECT_EQ(read.fetches[0].shape[0], kDynamicSize);
  EXPECT_EQ(read.arenaBytes, int64_t{1} << 40);
}

TEST(ProgramInfo, RefusesWhatIsNotOne) {
  ProgramInfo info;
  for (const char *text : {"", "{", "[]", "null", "{}", "{\"variables\": 3}"})
    EXPECT_FALSE(fromJson(text, info)) << text;
}

TEST(ProgramInfo, RefusesInconsistentTables) {
  auto refused = [](auto change) {
    ProgramInfo info = makeInfo(), read;
    change(info);
    return !fromJson(toJson(info), read);
  };
  EXPECT_FALSE(refused([](ProgramInfo &) {}));
  EXPECT_TRUE(refused([](ProgramInfo &info) { info.arenaBytes = -1; }));
  EXPECT_TRUE(refused([](ProgramInfo &info) { info.variables[0].shape[0] = -1; }));
  EXPECT_TRUE(refused([](ProgramInfo &info) { info.texts[0].segments.pop_back(); }));
  EXPECT_TRUE(refused([](ProgramInfo &info) { info.texts[0].values[0].rank = -1; }));
  EXPECT_TRUE(refused([](ProgramInfo &info) { info.sources[0].batch = 0; }));
}

TEST(ProgramInfo, DamagedTextDoesNotCrash) {
  std::string whole = toJson(makeInfo());
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = whole;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    if (round % 3 == 0)
      text.resize(random() % text.size());
    ProgramInfo info;
    refused += !fromJson(text, info);
  }
  EXPECT_GT(refused, 1500);
}

} // namespace
} // namespace pdg
