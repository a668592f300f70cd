// What the tests of file formats share: a folder that vanishes, tensors, damage, and Python.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/checkpoint/named_tensor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace pdg {

/// A new folder; removed with all that is in it.
class TempFolder {
public:
  TempFolder() {
    std::string pattern = (folder() / "pdg-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data()) ? pattern : "/nonexistent";
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string &name) const { return path_ + "/" + name; }
  size_t count() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_),
                                             std::filesystem::directory_iterator()));
  }

private:
  // In memory where that is possible: there, syncing hundreds of files costs nothing.
  static std::filesystem::path folder() {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path();
  }

  std::string path_;
};

inline std::string readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void writeBytes(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

template <typename T>
HostTensor makeTensor(std::vector<int64_t> shape, const std::vector<T> &values) {
  return *HostTensor::fromBytes(dtypeOf<T>, std::move(shape), values.data(),
                                values.size() * sizeof(T));
}

/// A tensor of any type with distinct bytes (0 and 1 for bool).
inline HostTensor makePattern(DType dtype, std::vector<int64_t> shape) {
  HostTensor tensor = *HostTensor::create(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.numBytes(); ++i)
    tensor.bytes()[i] = static_cast<uint8_t>(dtype == DType::Bool ? i % 3 == 0 : i * 7 % 120);
  return tensor;
}

inline void expectEqual(const HostTensor &found, const HostTensor &expected) {
  ASSERT_EQ(found.typeString(), expected.typeString());
  EXPECT_EQ(std::memcmp(found.bytes(), expected.bytes(), static_cast<size_t>(found.numBytes())), 0);
}

/// One tensor of each type and of several ranks.
inline std::vector<NamedTensor> makeAllTypes() {
  std::vector<NamedTensor> tensors;
#define PDG_DTYPE_TENSOR(enumerator, name, size, descr)                                            \
  tensors.push_back({"net." name ".W/adam.m", makePattern(DType::enumerator, {3, 5})});
  PDG_DTYPES(PDG_DTYPE_TENSOR)
#undef PDG_DTYPE_TENSOR
  tensors.push_back({"scalar", makeTensor<double>({}, {0.1})});
  tensors.push_back({"empty", makePattern(DType::F32, {0, 4})});
  tensors.push_back({"größe", makePattern(DType::I64, {2, 1, 2, 1})});
  return tensors;
}

inline std::vector<TensorRef> refsTo(std::vector<NamedTensor> &tensors) {
  std::vector<TensorRef> refs;
  for (NamedTensor &named : tensors)
    refs.push_back({named.name, &named.tensor});
  return refs;
}

/// Changes, cuts or repeats some bytes.
inline std::string damage(std::string bytes, std::mt19937 &random) {
  auto place = [&] { return random() % bytes.size(); };
  switch (random() % 4) {
  case 0:
    bytes.resize(place());
    break;
  case 1: {
    size_t begin = place();
    bytes.insert(place(), bytes.substr(begin, random() % 40));
    break;
  }
  default:
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
      bytes[place()] = static_cast<char>(random() % 3 ? random() : 0xff);
  }
  return bytes;
}

/// Runs the system's Python; returns its exit status, or -1 without NumPy.
inline int runPython(const std::string &script, const std::string &argument) {
  auto run = [](const std::string &command) {
    int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
  };
  if (run("/usr/bin/python3 -c 'import numpy' 2>/dev/null") != 0)
    return -1;
  return run("/usr/bin/python3 -c '" + script + "' '" + argument + "'");
}

} // namespace pdg
