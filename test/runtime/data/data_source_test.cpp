// Running sources: the batches are those of BatchMaker whatever the program does, and the thread
// ends in order.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/data_source.h"

#include "runtime/data/reader.h"
#include "runtime/data/shuffle.h"
#include "test/runtime/data/data_files_fixture.h"

#include <cstring>
#include <set>

namespace pdg {
namespace {

constexpr int64_t kExamples = 23, kExampleSize = 3;

class DataSourceTest : public DataFilesTest {
protected:
  void SetUp() override {
    DataFilesTest::SetUp();
    write("images.gz", gzip(idxBytes({kExamples, kExampleSize})));
    write("labels", idxBytes({kExamples}));
    options.paths.scriptDir = folder;
    source.name = "train";
    source.reader = "idx";
    source.files = {"images.gz", "labels"};
    source.batch = 5;
    source.shuffle = true;
    source.seed = 7;
    source.fields = {{DType::U8, {kExampleSize}}, {DType::U8, {}}};
    source.location = "model.pdg:3:1";
  }

  std::unique_ptr<DataSource> open() {
    absl::StatusOr<std::unique_ptr<DataSource>> result = DataSource::open(source, options);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : nullptr;
  }

  /// The labels of the next batch, each checked to be that of its image.
  std::vector<int> nextLabels(DataSource &data) {
    absl::StatusOr<DataBatch> batch = data.next();
    EXPECT_TRUE(batch.ok()) << batch.status();
    std::vector<int> labels;
    for (int64_t i = 0; batch.ok() && i < batch->n; ++i) {
      labels.push_back(static_cast<uint8_t>(batch->fields[1][i]));
      for (int64_t k = 0; k < kExampleSize; ++k)
        EXPECT_EQ(static_cast<uint8_t>(batch->fields[0][i * kExampleSize + k]),
                  labels.back() * kExampleSize + k);
    }
    return labels;
  }

  /// All batches of pass `pass` made without a thread.
  std::vector<std::vector<int>> makePass(int64_t pass) {
    std::vector<std::string> paths = resolveSourceFiles(source, options.paths).value();
    ExampleTable table = findReader(source).value()->load({source, paths}).value();
    BatchMaker maker = BatchMaker::create(source, options.runSeed, std::move(table)).value();
    std::vector<char> images(maker.fieldBytes(0)), labels(maker.fieldBytes(1));
    char *fields[] = {images.data(), labels.data()};
    std::vector<std::vector<int>> batches;
    for (int64_t batch = 0; int64_t n = maker.fill({pass, batch}, fields); ++batch)
      batches.emplace_back(labels.begin(), labels.begin() + n);
    return batches;
  }

  std::vector<std::vector<int>> readPass(DataSource &data, int64_t pass) {
    data.beginPass(pass);
    std::vector<std::vector<int>> batches;
    while (true) {
      std::vector<int> labels = nextLabels(data);
      if (labels.empty())
        return batches;
      batches.push_back(labels);
    }
  }

  SourceInfo source;
  DataOptions options;
};

TEST_F(DataSourceTest, ReadsWhatIsMadeWithoutAThread) {
  std::unique_ptr<DataSource> data = open();
  for (int64_t pass = 0; pass < 20; ++pass)
    EXPECT_EQ(readPass(*data, pass), makePass(pass)) << pass;
}

TEST_F(DataSourceTest, EveryPassHasAllExamplesAndASmallerLastBatch) {
  std::unique_ptr<DataSource> data = open();
  for (int64_t pass = 0; pass < 3; ++pass) {
    std::set<int> seen;
    std::vector<size_t> sizes;
    for (const std::vector<int> &batch : readPass(*data, pass)) {
      sizes.push_back(batch.size());
      seen.insert(batch.begin(), batch.end());
    }
    EXPECT_EQ(sizes, (std::vector<size_t>{5, 5, 5, 5, 3}));
    EXPECT_EQ(seen.size(), size_t{kExamples});
  }
}

TEST_F(DataSourceTest, SeedsChooseTheOrder) {
  std::vector<std::vector<int>> first = readPass(*open(), 0);
  EXPECT_EQ(readPass(*open(), 0), first);
  EXPECT_NE(readPass(*open(), 1), first);
  options.runSeed = 1;
  EXPECT_NE(readPass(*open(), 0), first);
}

TEST_F(DataSourceTest, KeepsTheOrderOfTheFileUnlessShuffled) {
  source.shuffle = false;
  std::unique_ptr<DataSource> data = open();
  for (int64_t pass = 0; pass < 2; ++pass) {
    int expected = 0;
    for (const std::vector<int> &batch : readPass(*data, pass))
      for (int label : batch)
        EXPECT_EQ(label, expected++);
    EXPECT_EQ(expected, kExamples);
  }
}

TEST_F(DataSourceTest, APassCanEndEarlyAtEveryBatch) {
  std::unique_ptr<DataSource> data = open();
  int64_t pass = 0;
  for (int64_t taken = 0; taken <= 6; ++taken, ++pass) {
    data->beginPass(pass);
    std::vector<std::vector<int>> expected = makePass(pass);
    for (int64_t batch = 0; batch < taken; ++batch)
      EXPECT_EQ(nextLabels(*data), batch < 5 ? expected[batch] : std::vector<int>{});
  }
  EXPECT_EQ(readPass(*data, 2), makePass(2)) << "passes may also be repeated";
}

TEST_F(DataSourceTest, ABatchMadeForAPassThatWasLeftIsNeverSeen) {
  // Ordering this many examples takes a while, so most moves come while a batch is being made.
  constexpr uint32_t kMany = 4000;
  write("labels", idxBytes({kMany}));
  source.files = {"labels"};
  source.fields = {{DType::U8, {}}};
  std::unique_ptr<DataSource> data = open();
  std::vector<int64_t> order(kMany);
  for (int64_t i = 0; i < 300; ++i) {
    data->beginPass(3 * i);
    data->beginPass(3 * i + 1);
    absl::StatusOr<DataBatch> batch = data->next();
    ASSERT_TRUE(batch.ok());
    shuffleOrder(options.runSeed, source.seed, 3 * i + 1, order);
    for (int64_t k = 0; k < 5; ++k)
      ASSERT_EQ(static_cast<uint8_t>(batch->fields[0][k]), order[k] % 256);
  }
}

TEST_F(DataSourceTest, StaysAtTheEndUntilTheNextPass) {
  std::unique_ptr<DataSource> data = open();
  EXPECT_TRUE(nextLabels(*data).empty()) << "no pass was begun";
  readPass(*data, 0);
  EXPECT_TRUE(nextLabels(*data).empty());
  EXPECT_TRUE(nextLabels(*data).empty());
  EXPECT_EQ(readPass(*data, 1), makePass(1));
}

TEST_F(DataSourceTest, APositionIsOneNumber) {
  std::unique_ptr<DataSource> data = open();
  data->beginPass(2);
  nextLabels(*data);
  nextLabels(*data);
  EXPECT_EQ(data->position().value(), 2 * 5 + 2);
  std::vector<int> expected = nextLabels(*data);
  std::unique_ptr<DataSource> restored = open();
  ASSERT_TRUE(restored->seek(12).ok());
  EXPECT_EQ(nextLabels(*restored), expected);
  readPass(*restored, 3);
  EXPECT_EQ(restored->position().value(), 4 * 5);
  EXPECT_FALSE(restored->seek(-1).ok());
}

TEST_F(DataSourceTest, UsesTheSameAlignedBuffersForEver) {
  std::unique_ptr<DataSource> data = open();
  std::set<const char *> buffers;
  for (int64_t pass = 0; pass < 20; ++pass) {
    data->beginPass(pass);
    while (true) {
      absl::StatusOr<DataBatch> batch = data->next();
      ASSERT_TRUE(batch.ok());
      for (const char *field : batch->fields) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(field) % 64, 0u);
        buffers.insert(field);
      }
      if (batch->n == 0)
        break;
    }
  }
  EXPECT_LE(buffers.size(), 16u) << "eight batches of two fields";
}

TEST_F(DataSourceTest, TakesABatchLargerThanTheFile) {
  source.batch = INT64_MAX;
  EXPECT_EQ(readPass(*open(), 0).at(0).size(), size_t{kExamples});
}

TEST_F(DataSourceTest, AnEmptyFileHasEmptyPasses) {
  write("images.gz", gzip(idxBytes({0, kExampleSize})));
  write("labels", idxBytes({0}));
  std::unique_ptr<DataSource> data = open();
  EXPECT_EQ(data->size().value(), 0);
  for (int64_t pass = 0; pass < 10; ++pass)
    EXPECT_TRUE(readPass(*data, pass).empty());
}

TEST_F(DataSourceTest, CountsExamplesWithAndWithoutReadingThem) {
  EXPECT_EQ(open()->size().value(), kExamples);
  write("f.csv", "x,y\n1,2\n3,4\n");
  source.reader = "csv";
  source.files = {"f.csv"};
  source.fields = {{DType::F32, {2}}};
  EXPECT_EQ(open()->size().value(), 2);
}

TEST_F(DataSourceTest, MayBeDestroyedAtAnyMoment) {
  for (int taken = 0; taken < 12; ++taken) {
    std::unique_ptr<DataSource> data = open();
    data->beginPass(0);
    for (int i = 0; i < taken; ++i)
      nextLabels(*data);
  }
}

TEST_F(DataSourceTest, ErrorsNameTheSourceAndItsPlace) {
  source.fields[0].shape = {4};
  std::string path = (folder / "images.gz").string();
  EXPECT_EQ(DataSource::open(source, options).status().message(),
            "model.pdg:3:1: data source 'train': the program was compiled for examples (u8[4], "
            "u8), found (u8[3], u8) in " +
                path);
  source.files = {"missing"};
  EXPECT_EQ(DataSource::open(source, options).status().code(), absl::StatusCode::kNotFound);
  source.reader = "png";
  EXPECT_EQ(DataSource::open(source, options).status().message(),
            "model.pdg:3:1: data source 'train': unknown data reader 'png'; the readers are csv, "
            "idx");
}

TEST_F(DataSourceTest, ErrorsOfReadingComeFromTheFirstCallThatNeedsTheData) {
  std::string bytes = gzip(idxBytes({kExamples, kExampleSize}));
  write("images.gz", bytes.substr(0, bytes.size() - 4));
  std::unique_ptr<DataSource> data = open();
  data->beginPass(0);
  for (int i = 0; i < 2; ++i) {
    absl::Status status = data->next().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(status.message().find("data source 'train': " + folder.string()),
              absl::string_view::npos)
        << status;
  }
  EXPECT_FALSE(data->position().ok());
  EXPECT_FALSE(data->seek(3).ok());
}

TEST_F(DataSourceTest, RefusesABatchOfNothing) {
  source.batch = 0;
  std::unique_ptr<DataSource> data = open();
  data->beginPass(0);
  EXPECT_FALSE(data->next().ok());
}

TEST_F(DataSourceTest, WaitingEndsWithAnInterrupt) {
  // A file that takes longer to read than an interrupt to be noticed.
  std::string text = "x\n";
  for (int i = 0; i < 2000000; ++i)
    text += "12345.678\n";
  write("f.csv", text);
  source.reader = "csv";
  source.files = {"f.csv"};
  source.fields = {{DType::F32, {1}}};
  std::atomic<bool> interrupted = true;
  options.interrupted = &interrupted;
  EXPECT_EQ(open()->size().status().code(), absl::StatusCode::kCancelled);
}

} // namespace
} // namespace pdg
