// Runs written by hand against the C functions: data, inputs, prints, fetches, errors, interrupts,
// and that a step allocates nothing.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/execution_context.h"

#include "runtime/abi.h"
#include "runtime/checkpoint/npz.h"
#include "test/runtime/data/data_files_fixture.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PDG_HAS_OWN_MALLOC 1
#endif
#endif

static std::atomic<int64_t> allocations = 0;

#ifndef PDG_HAS_OWN_MALLOC
// Counts every request for memory, of all threads and libraries.
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, size);
}
}
#endif

namespace pdg {
namespace {

class ExecutionContextTest : public DataFilesTest {
protected:
  void SetUp() override {
    DataFilesTest::SetUp();
    program.variables = {{"net.W", DType::F32, {2}, true}, {"net.W/adam.t", DType::I64, {}, false}};
    program.inputs = {{"x", DType::F32, {2, 1}}};
    program.fetches = {{"loss", DType::F32, {}}, {"out", DType::I64, {kDynamicSize}}};
    program.texts.resize(1);
    program.texts[0].segments = {"step ", " loss ", ""};
    program.texts[0].values = {{.dtype = DType::I64}, {.dtype = DType::F32, .precision = 4}};
    program.texts.push_back(
        {{"index ", " out of range"}, {{.dtype = DType::I64}}, "PD2001", "m.pdg:3:5", "  x[9]\n"});
    program.sources.resize(1);
    program.sources[0].name = "train";
    program.sources[0].reader = "idx";
    program.sources[0].files = {"images", "labels"};
    program.sources[0].batch = 4;
    program.sources[0].fields = {{DType::U8, {3}}, {DType::U8, {}}};
    program.sources[0].location = "m.pdg:1:1";
    program.arenaBytes = 100;
    write("images", idxBytes({10, 3}));
    write("labels", idxBytes({10}));
    options.paths.scriptDir = folder;
    options.threads = 2;
    options.isQuiet = true;
  }

  std::unique_ptr<ExecutionContext> make() {
    absl::StatusOr<std::unique_ptr<ExecutionContext>> made =
        ExecutionContext::create(program, options);
    EXPECT_TRUE(made.ok()) << made.status();
    (*made)->setSink([this](std::string_view line) {
      lines.emplace_back(line);
      return absl::OkStatus();
    });
    if (!program.inputs.empty())
      EXPECT_TRUE((*made)->feed("x", *HostTensor::fromValues<float>({2, 1}, {1, 2})).ok());
    return *std::move(made);
  }

  ProgramInfo program;
  RunOptions options;
  std::vector<std::string> lines;
};

int64_t doNothing(void *, char **, char *) { return 0; }

// Sums the labels of two passes into a variable and prints, fetches and counts on the way.
int64_t sumLabels(void *ctx, char **vars, char *arena) {
  arena[99] = 1;
  int64_t total = 0, step = 0;
  for (int pass = 0; pass < 2; ++pass) {
    if (int64_t status = pdg_data_open(ctx, 0))
      return status;
    for (;;) {
      if (int64_t status = pdg_poll(ctx))
        return status;
      char *fields[2];
      int64_t n = pdg_data_next(ctx, 0, fields);
      if (n < 0)
        return n;
      if (n == 0)
        break;
      for (int64_t i = 0; i < n; ++i)
        total += static_cast<uint8_t>(fields[1][i]);
      float loss = static_cast<float>(n) / 8;
      char *values[] = {reinterpret_cast<char *>(&step), reinterpret_cast<char *>(&loss)};
      if (int64_t status = pdg_print(ctx, 0, values, nullptr))
        return status;
      if (int64_t status = pdg_fetch(ctx, 0, reinterpret_cast<char *>(&loss), nullptr))
        return status;
      ++step;
    }
  }
  std::memcpy(vars[1], &total, sizeof(total));
  int64_t size = pdg_data_size(ctx, 0), sizes[] = {size, total}, dims[] = {2};
  return pdg_fetch(ctx, 1, reinterpret_cast<char *>(sizes), dims);
}

TEST_F(ExecutionContextTest, RunsAProgram) {
  std::unique_ptr<ExecutionContext> context = make();
  ASSERT_TRUE(context->run(doNothing, sumLabels)) << context->error().message;
  EXPECT_EQ(lines, (std::vector<std::string>{"step 0 loss 0.5000", "step 1 loss 0.5000",
                                             "step 2 loss 0.2500", "step 3 loss 0.5000",
                                             "step 4 loss 0.5000", "step 5 loss 0.2500"}));
  EXPECT_EQ(context->variables()[1].values<int64_t>()[0], 2 * 45);
  ASSERT_NE(context->fetched(0), nullptr);
  EXPECT_EQ(context->fetched(0)->values<float>()[0], 0.25f);
  EXPECT_EQ(context->fetched(1)->typeString(), "i64[2]");
  EXPECT_EQ(context->fetched(1)->values<int64_t>()[0], 10);
  EXPECT_EQ(context->fetchedValues().size(), 2u);
}

TEST_F(ExecutionContextTest, TakesUpWhatAnEarlierRunLeft) {
  HostTensor weights = *HostTensor::fromValues<float>({2}, {3, 4});
  options.variables = {{"net.W", &weights}, {"gone", &weights}};
  options.passes = {{"train", 5}, {"gone", 1}};
  std::unique_ptr<ExecutionContext> context = make();
  auto init = [](void *, char **vars, char *) -> int64_t {
    float first[] = {1, 2};
    std::memcpy(vars[0], first, sizeof(first));
    return 0;
  };
  ASSERT_TRUE(context->run(init, sumLabels)) << context->error().message;
  EXPECT_TRUE(context->isInitialized());
  EXPECT_EQ(context->variables()[0].values<float>()[0], 3);
  EXPECT_EQ(context->passes(0), 7);

  options.variables[1].name = "net.W/adam.t";
  context = make();
  EXPECT_FALSE(context->run(init, sumLabels));
  EXPECT_FALSE(context->isInitialized());
  EXPECT_EQ(context->error().message, "variable 'net.W/adam.t': expected i64, found f32[2]");
}

TEST_F(ExecutionContextTest, FeedsAreChecked) {
  std::unique_ptr<ExecutionContext> context = make();
  absl::Status wrong = context->feed("x", *HostTensor::create(DType::F64, {2, 1}));
  EXPECT_EQ(std::string(wrong.message()), "input 'x': expected f32[2, 1], found f64[2, 1]");
  wrong = context->feed("x", *HostTensor::create(DType::F32, {2}));
  EXPECT_EQ(std::string(wrong.message()), "input 'x': expected f32[2, 1], found f32[2]");
  wrong = context->feed("y", *HostTensor::create(DType::F32, {2}));
  EXPECT_EQ(std::string(wrong.message()), "no input 'y': its inputs are x");

  auto readInput = [](void *ctx, char **vars, char *) -> int64_t {
    char *data;
    int64_t dims[2];
    pdg_input_get(ctx, 0, &data, dims);
    std::memcpy(vars[0], data, static_cast<size_t>(dims[0] * dims[1]) * 4);
    return 0;
  };
  ASSERT_TRUE(context->run(doNothing, readInput));
  EXPECT_EQ(context->variables()[0].values<float>()[1], 2);

  absl::StatusOr<std::unique_ptr<ExecutionContext>> unfed =
      ExecutionContext::create(program, options);
  EXPECT_FALSE((*unfed)->run(doNothing, readInput));
  EXPECT_EQ((*unfed)->error().message,
            "input 'x' has no value: expected f32[2, 1] (--feed x=FILE.npy)");
  EXPECT_EQ((*unfed)->error().exitCode, 1);
}

TEST_F(ExecutionContextTest, ProgramErrorsCarryTheirPlace) {
  std::unique_ptr<ExecutionContext> context = make();
  EXPECT_FALSE(context->run(doNothing, [](void *ctx, char **, char *) -> int64_t {
    int64_t index = 9;
    char *values[] = {reinterpret_cast<char *>(&index)};
    return pdg_fail(ctx, 1, values, nullptr);
  }));
  EXPECT_EQ(context->error().code, "PD2001");
  EXPECT_EQ(context->error().location, "m.pdg:3:5");
  EXPECT_EQ(context->error().message, "index 9 out of range");
  EXPECT_EQ(context->error().excerpt, "  x[9]\n");
  EXPECT_EQ(context->error().exitCode, 1);
}

TEST_F(ExecutionContextTest, DataErrorsNameFileAndPlace) {
  program.sources[0].files[1] = "nowhere";
  std::unique_ptr<ExecutionContext> context = make();
  EXPECT_TRUE(context->run(doNothing, doNothing)) << "a source that is not used";
  EXPECT_FALSE(context->run(doNothing, sumLabels));
  EXPECT_NE(context->error().message.find("nowhere"), std::string::npos);
  EXPECT_NE(context->error().message.find("m.pdg:1:1"), std::string::npos);
  EXPECT_EQ(context->error().exitCode, 1);
  EXPECT_EQ(pdg_data_size(context.get(), 0), -1);
}

TEST_F(ExecutionContextTest, PrintErrorsStopTheRun) {
  std::unique_ptr<ExecutionContext> context = make();
  context->setSink([](std::string_view) { return absl::ResourceExhaustedError("disk full"); });
  EXPECT_FALSE(context->run(doNothing, sumLabels));
  EXPECT_EQ(context->error().message, "disk full");
  EXPECT_EQ(context->error().exitCode, 3);
}

TEST_F(ExecutionContextTest, InterruptsStopTheRun) {
  std::unique_ptr<ExecutionContext> context = make();
  context->setSink([&](std::string_view line) {
    lines.emplace_back(line);
    context->interrupt();
    return absl::OkStatus();
  });
  EXPECT_FALSE(context->run(doNothing, sumLabels));
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_EQ(context->error().exitCode, 130);
}

TEST_F(ExecutionContextTest, InterruptsAreSeenWithoutLoops) {
  std::unique_ptr<ExecutionContext> context = make();
  EXPECT_FALSE(context->run([] { return true; },
                            [&] {
                              context->interrupt();
                              EXPECT_FALSE(context->print(0, nullptr, nullptr));
                              return true;
                            }));
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(context->error().exitCode, 130);
}

TEST_F(ExecutionContextTest, SeedAndThreads) {
  options.seed = ~uint64_t{0};
  std::unique_ptr<ExecutionContext> context = make();
  ASSERT_TRUE(context->run(doNothing, [](void *ctx, char **vars, char *) -> int64_t {
    EXPECT_EQ(pdg_seed(ctx), -1);
    pdg_parallel(
        ctx,
        [](void *vars, int64_t i, int64_t tasks) {
          static_cast<float *>(vars)[i] = static_cast<float>(i + 10 * tasks);
        },
        vars[0], 2);
    return 0;
  }));
  EXPECT_EQ(context->variables()[0].values<float>()[0], 20);
  EXPECT_EQ(context->variables()[0].values<float>()[1], 21);
}

TEST_F(ExecutionContextTest, SavesAndLoadsBetweenInitAndMain) {
  std::string path = folder / "v.safetensors";
  std::unique_ptr<ExecutionContext> context = make();
  context->variables()[0].data<float>()[0] = 42;
  ASSERT_TRUE(context->save(path).ok());

  options.loadFile = path;
  context = make();
  auto fill = [](void *, char **vars, char *) -> int64_t {
    *reinterpret_cast<float *>(vars[0]) = 1;
    return 0;
  };
  auto increment = [](void *, char **vars, char *) -> int64_t {
    *reinterpret_cast<float *>(vars[0]) += 1;
    return 0;
  };
  ASSERT_TRUE(context->run(fill, increment)) << context->error().message;
  EXPECT_EQ(context->variables()[0].values<float>()[0], 43);

  options.loadFile = folder / "none.safetensors";
  context = make();
  EXPECT_FALSE(context->run(fill, increment));
  EXPECT_EQ(context->error().exitCode, 1);
}

TEST_F(ExecutionContextTest, PrintsToStandardOutput) {
  absl::StatusOr<std::unique_ptr<ExecutionContext>> context =
      ExecutionContext::create(program, options);
  int64_t step = 1;
  float loss = 1;
  const char *values[] = {reinterpret_cast<char *>(&step), reinterpret_cast<char *>(&loss)};
  testing::internal::CaptureStdout();
  EXPECT_TRUE((*context)->print(0, values, nullptr));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "step 1 loss 1.0000\n");
}

TEST_F(ExecutionContextTest, ProgressShowsTheLastLoss) {
  double now = 0;
  std::vector<std::string> drawn;
  std::unique_ptr<ExecutionContext> context = make();
  context->setProgress(Progress({.write = [&](std::string_view text) { drawn.emplace_back(text); },
                                 .now = [&] { return now += 1; }}));
  ASSERT_TRUE(context->run(doNothing, sumLabels));
  // Each step draws, each print erases.
  ASSERT_EQ(drawn.size(), 12u);
  EXPECT_EQ(drawn[2].substr(4, 5), "train");
  EXPECT_NE(drawn[2].find(" 2/3 "), std::string::npos) << drawn[2];
  EXPECT_NE(drawn[2].find("loss 0.5000"), std::string::npos) << drawn[2];
  EXPECT_EQ(drawn.back(), "\r\x1b[K");
}

// After the first pass nothing asks for memory, the data thread and the workers included.
TEST_F(ExecutionContextTest, StepsAllocateNothing) {
#ifdef PDG_HAS_OWN_MALLOC
  GTEST_SKIP() << "the sanitizer has its own malloc";
#endif
  std::unique_ptr<ExecutionContext> context = make();
  context->setSink([](std::string_view) { return absl::OkStatus(); });
  static int64_t counted = -1;
  ASSERT_TRUE(context->run(doNothing, [](void *ctx, char **vars, char *arena) -> int64_t {
    auto step = [&] {
      pdg_parallel(ctx, [](void *, int64_t, int64_t) {}, nullptr, 2);
      return sumLabels(ctx, vars, arena);
    };
    if (int64_t status = step())
      return status;
    int64_t before = allocations.load();
    for (int round = 0; round < 20; ++round)
      if (int64_t status = step())
        return status;
    counted = allocations.load() - before;
    return 0;
  }));
  EXPECT_GT(allocations.load(), 0);
  EXPECT_EQ(counted, 0);
}

TEST_F(ExecutionContextTest, RefusesImpossibleVariables) {
  program.variables[0].shape = {int64_t{1} << 40, int64_t{1} << 40};
  absl::Status status = ExecutionContext::create(program, options).status();
  EXPECT_NE(status.ToString().find("variable 'net.W'"), std::string::npos) << status;
}

TEST(ExitCodes, FollowTheFault) {
  EXPECT_EQ(exitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(exitCodeOf(absl::NotFoundError("")), 1);
  EXPECT_EQ(exitCodeOf(absl::InvalidArgumentError("")), 1);
  EXPECT_EQ(exitCodeOf(absl::ResourceExhaustedError("")), 3);
  EXPECT_EQ(exitCodeOf(absl::CancelledError("")), 130);
}

} // namespace
} // namespace pdg
