// No file crashes a reader: good files with bytes changed, removed, added and repeated at random
// are read to the end or refused with a message. SPDX-License-Identifier: Apache-2.0
#include "runtime/base/mix.h"
#include "runtime/base/tensor.h"
#include "runtime/checkpoint/npy.h"
#include "runtime/checkpoint/npz.h"
#include "test/runtime/data/data_files_fixture.h"

namespace pdg {
namespace {

/// Changes one to four places of `bytes`, as `seed` says.
std::string mutate(std::string bytes, uint64_t seed) {
  uint64_t draws = 0;
  auto draw = [&](uint64_t bound) { return drawBelow(seed, draws++, bound); };
  for (uint64_t edits = 1 + draw(4); edits > 0 && !bytes.empty(); --edits) {
    size_t at = draw(bytes.size());
    constexpr uint8_t kTelling[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '\n', '\r', ',', '"', '-', '9'};
    char byte = static_cast<char>(draw(2) ? kTelling[draw(sizeof(kTelling))] : draw(256));
    switch (draw(5)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << draw(8)));
      break;
    case 1:
      bytes[at] = byte;
      break;
    case 2:
      bytes.insert(at, 1, byte);
      break;
    case 3:
      bytes.erase(at, 1 + draw(8));
      break;
    default:
      bytes.insert(draw(bytes.size()), bytes.substr(at, 1 + draw(16)));
      break;
    }
  }
  return bytes;
}

class ReaderMutationTest : public DataFilesTest {
protected:
  /// Reads `count` mutations of `good`; returns how many were refused.
  int readMutations(const std::string &reader, const std::string &good, int count,
                    std::vector<SourceOption> options = {}) {
    SourceInfo source;
    source.reader = reader;
    source.options = options;
    int refused = 0;
    for (int seed = 0; seed < count; ++seed) {
      std::string path = write("f", mutate(good, seed));
      absl::StatusOr<SourceHeader> header = probeFiles(source, {path});
      absl::StatusOr<ExampleTable> table = loadFiles(source, {path});
      EXPECT_TRUE(header.ok() || !table.ok()) << "what loads can be probed, seed " << seed;
      if (table.ok())
        continue;
      ++refused;
      EXPECT_NE(table.status().message().find(path + ":"), absl::string_view::npos)
          << table.status();
    }
    return refused;
  }

  const std::string csv = "x,y,\"z\"\r\n1,2.5,\"3\"\n\n-4e3,5,6\n7,8,9";
};

TEST_F(ReaderMutationTest, Idx) {
  EXPECT_GT(readMutations("idx", idxBytes({4, 3, 2}), 1500), 500);
  EXPECT_GT(readMutations("idx", idxHeader(0x0b, {4}) + "12345678", 500), 200);
}

TEST_F(ReaderMutationTest, PackedIdx) {
  // Nearly every change of a packed file is found by its checksum.
  EXPECT_GT(readMutations("idx", gzip(idxBytes({4, 3, 2})), 1500), 1200);
}

TEST_F(ReaderMutationTest, Csv) {
  std::vector<SourceOption> target = {{"target", textOption("y")}};
  EXPECT_GT(readMutations("csv", csv, 1500, target), 500);
  EXPECT_GT(readMutations("csv", gzip(csv), 500, target), 400);
  EXPECT_GT(readMutations("csv", csv, 500, {{"types", textOption("i64")}}), 250);
}

TEST_F(ReaderMutationTest, Npy) {
  std::string good = makeNpyHeader(DType::F32, {4, 3}) + std::string(48, '\1');
  EXPECT_GT(readMutations("npy", good, 1500), 300);
  EXPECT_GT(readMutations("npy", gzip(good), 500), 400);
}

TEST_F(ReaderMutationTest, Npz) {
  HostTensor x = HostTensor::fromValues<float>({3, 2}, {1, 2, 3, 4, 5, 6}).value();
  HostTensor y = HostTensor::fromValues<int64_t>({3}, {1, 2, 3}).value();
  TensorRef tensors[] = {{"x", &x}, {"y", &y}};
  std::string path = (folder / "good.npz").string();
  ASSERT_TRUE(writeNpz(path, tensors).ok());
  std::ifstream file(path, std::ios::binary);
  std::string good{std::istreambuf_iterator<char>(file), {}};
  EXPECT_GT(readMutations("npz", good, 1000, {{"fields", listOption({"x", "y"})}}), 300);
}

TEST_F(ReaderMutationTest, Text) {
  // Bytes are bytes: only packed text can be wrong, and words that are not in the vocabulary.
  std::vector<SourceOption> window = {{"window", textOption("3")}};
  EXPECT_EQ(readMutations("text", csv, 300, window), 0);
  EXPECT_GT(readMutations("text", gzip(csv), 500, window), 400);
  write("words.txt", "one\ntwo three");
  window.push_back({"vocabulary", textOption((folder / "words.txt").string())});
  EXPECT_GT(readMutations("text", "one two three two one two", 500, window), 200);
  EXPECT_GT(readMutations("lines", csv, 500, {{"length", textOption("17")}}), 10);
}

} // namespace
} // namespace pdg
