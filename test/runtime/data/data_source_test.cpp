// Running sources: the batches are those of BatchMaker whatever the program does, and the thread
// ends in order.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/data_source.h"

#include "runtime/data/shuffle.h"
#include "test/runtime/data/data_files_fixture.h"

#include <cmath>
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
    ExampleTable table =
        loadGroups(source, resolveSourceFiles(source, options.paths).value()).value();
    SourceHeader header = {source.fields, table.numExamples};
    ExampleRange all = {0, table.numExamples};
    BatchMaker maker =
        BatchMaker::create(source, options.runSeed, std::make_unique<TableReader>(std::move(table)),
                           header, all)
            .value();
    std::vector<char> images(maker.fieldBytes(0).value()), labels(maker.fieldBytes(1).value());
    char *fields[] = {images.data(), labels.data()};
    std::vector<std::vector<int>> batches;
    for (int64_t batch = 0; int64_t n = maker.fill({pass, batch}, fields).value(); ++batch)
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
            "idx, lines, npy, npz, text");
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

//===-- Streams, shares and repetitions -------------------------------------------------------===//

/// All labels of a pass in a row.
std::vector<int> join(const std::vector<std::vector<int>> &batches) {
  std::vector<int> labels;
  for (const std::vector<int> &batch : batches)
    labels.insert(labels.end(), batch.begin(), batch.end());
  return labels;
}

TEST_F(DataSourceTest, AStreamGivesTheBatchesOfAKeptSource) {
  for (const char *images : {"images.gz", "images"})
    for (bool shuffle : {false, true})
      for (int64_t window : {0, 1, 4, 7, 1000}) {
        write("images", idxBytes({kExamples, kExampleSize}));
        source.files = {images, "labels"};
        source.shuffle = shuffle;
        source.window = shuffle ? window : 0;
        source.skip = 2;
        source.limit = 19;
        options.keepBytes = int64_t{1} << 20;
        std::unique_ptr<DataSource> kept = open();
        options.keepBytes = 0;
        std::unique_ptr<DataSource> streamed = open();
        for (int64_t pass : {0, 1, 2, 1})
          EXPECT_EQ(readPass(*streamed, pass), readPass(*kept, pass)) << images << window;
        EXPECT_EQ(streamed->size().value(), 19);
      }
}

TEST_F(DataSourceTest, WindowsHoldAllExamplesAndKeepThemNear) {
  write("many", idxBytes({250}));
  source.files = {"many"};
  source.fields = {{DType::U8, {}}};
  source.window = 10;
  options.keepBytes = 0;
  std::unique_ptr<DataSource> data = open();
  std::set<std::vector<int>> orders;
  for (int64_t pass = 0; pass < 4; ++pass) {
    std::vector<int> labels;
    data->beginPass(pass);
    while (true) {
      absl::StatusOr<DataBatch> batch = data->next();
      ASSERT_TRUE(batch.ok()) << batch.status();
      if (batch->n == 0)
        break;
      for (int64_t i = 0; i < batch->n; ++i)
        labels.push_back(static_cast<uint8_t>(batch->fields[0][i]));
    }
    EXPECT_EQ(std::set<int>(labels.begin(), labels.end()).size(), 250u);
    for (int i = 0; i < 250; ++i)
      EXPECT_LT(std::abs(labels[i] - i), 10);
    orders.insert(labels);
  }
  EXPECT_EQ(orders.size(), 4u) << "each pass has another order";
}

TEST_F(DataSourceTest, StreamsOfUnknownLengthAreCountedWhenAsked) {
  std::string text = "x\n";
  for (int i = 0; i < 50; ++i)
    text += std::to_string(i) + "\n";
  write("f.csv", text);
  source.reader = "csv";
  source.files = {"f.csv"};
  source.fields = {{DType::F32, {1}}};
  source.shuffle = false;
  source.skip = 3;
  options.keepBytes = 0;
  std::unique_ptr<DataSource> data = open();
  EXPECT_EQ(data->size().value(), 47);
  data->beginPass(1);
  EXPECT_EQ(data->position().value(), 10);
  ASSERT_TRUE(data->seek(10 + 9).ok());
  absl::StatusOr<DataBatch> batch = data->next();
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->n, 2);
  EXPECT_EQ(*reinterpret_cast<const float *>(batch->fields[0]), 48.0f);
  source.limit = 100;
  EXPECT_EQ(open()->size().value(), 47);
  source.limit = 7;
  EXPECT_EQ(open()->size().value(), 7);
}

TEST_F(DataSourceTest, ErrorsInAStreamComeAfterTheBatchesBeforeThem) {
  write("f.csv", "x\n1\n2\n3\n4\n5\n6\n?\n");
  source.reader = "csv";
  source.files = {"f.csv"};
  source.fields = {{DType::F32, {1}}};
  source.shuffle = false;
  options.keepBytes = 0;
  std::unique_ptr<DataSource> data = open();
  for (int64_t pass : {0, 1}) {
    data->beginPass(pass);
    EXPECT_EQ(data->next().value().n, 5);
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(data->next().status().message(),
                "model.pdg:3:1: data source 'train': " + folder.string() +
                    "/f.csv:8:1: expects a number in column 'x', "
                    "found '?' (missing: \"?\" would read it as NaN)");
  }
}

TEST_F(DataSourceTest, SharesAreDisjointAndLeaveNothingOut) {
  source.shuffle = false;
  for (double border : {0.1, 0.5, 0.57, 0.8, 0.999}) {
    source.from = 0, source.to = border;
    std::vector<int> labels;
    if (border < 0.999) // 23 of 23
      labels = join(readPass(*open(), 0));
    source.from = border, source.to = 1;
    if (border == 0.999) {
      EXPECT_FALSE(DataSource::open(source, options).ok());
      continue;
    }
    std::vector<int> rest = join(readPass(*open(), 0));
    EXPECT_EQ(labels.size(), static_cast<size_t>(std::floor(border * kExamples + 0.5)));
    labels.insert(labels.end(), rest.begin(), rest.end());
    ASSERT_EQ(labels.size(), size_t{kExamples});
    for (int i = 0; i < kExamples; ++i)
      EXPECT_EQ(labels[i], i);
  }
}

TEST_F(DataSourceTest, ARepeatedPassIsThatManyPasses) {
  std::vector<std::vector<int>> expected;
  for (int64_t pass = 3; pass < 6; ++pass)
    for (const std::vector<int> &batch : makePass(pass))
      expected.push_back(batch);
  source.repeat = 3;
  std::unique_ptr<DataSource> data = open();
  EXPECT_EQ(readPass(*data, 1), expected);
  EXPECT_EQ(data->size().value(), 3 * kExamples);
  EXPECT_EQ(data->position().value(), 2 * 15);
  ASSERT_TRUE(data->seek(15 + 7).ok());
  EXPECT_EQ(nextLabels(*data), expected[7]);
  EXPECT_EQ(data->position().value(), 15 + 8);
  source.repeat = int64_t{1} << 62;
  EXPECT_FALSE(open()->size().ok());
}

TEST_F(DataSourceTest, MoreIsSkippedThanThereIs) {
  source.skip = kExamples;
  EXPECT_EQ(DataSource::open(source, options).status().message(),
            "model.pdg:3:1: data source 'train': of 23 examples in images.gz 'skip', 'limit', "
            "'from' and 'to' leave none");
  write("f.csv", "x\n1\n");
  source.reader = "csv";
  source.files = {"f.csv"};
  source.fields = {{DType::F32, {1}}};
  for (int64_t keep : {0, 1000}) {
    source.shuffle = false;
    options.keepBytes = keep;
    std::unique_ptr<DataSource> data = open();
    data->beginPass(0);
    EXPECT_EQ(data->next().status().message(),
              "model.pdg:3:1: data source 'train': the files have no more than 23 examples, which "
              "'skip' leaves out");
  }
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
