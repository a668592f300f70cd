// Compares a training run with one that was computed elsewhere:
//
//   pdg-check-oracle ORACLE.npz LOSSES VALUES.npz f32|f64
//
// LOSSES has the loss of each step, one a line; VALUES.npz the final parameters. What the oracle
// calls `final.fc1.W` is `fc1.W` or `fc1_W` there. Losses may differ by a relative 1e-5 in f32 and
// 1e-9 in f64, parameters by an absolute 1e-5 and 1e-9.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/text.h"
#include "runtime/checkpoint/npz.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace pdg;

static int failures = 0;

static void fail(const std::string &text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  ++failures;
}

static std::vector<NamedTensor> read(const std::string &path) {
  absl::StatusOr<std::vector<NamedTensor>> tensors = readNpz(path);
  if (tensors.ok())
    return *std::move(tensors);
  fail(std::string(toStd(tensors.status().message())));
  return {};
}

static const HostTensor *find(const std::vector<NamedTensor> &tensors, const std::string &name) {
  for (const NamedTensor &tensor : tensors)
    if (tensor.name == name)
      return &tensor.tensor;
  return nullptr;
}

static double valueAt(const HostTensor &tensor, int64_t i) {
  return tensor.dtype() == DType::F32 ? tensor.data<float>()[i] : tensor.data<double>()[i];
}

static void checkLosses(const HostTensor *expected, const std::string &path, double tolerance) {
  std::ifstream file(path);
  std::string line;
  std::vector<double> losses;
  while (std::getline(file, line))
    losses.push_back(std::strtod(line.c_str(), nullptr));
  if (!expected || static_cast<int64_t>(losses.size()) != expected->numElements())
    return fail("expected a loss for each step, found " + std::to_string(losses.size()));
  for (size_t i = 0; i < losses.size(); ++i) {
    double want = expected->data<double>()[i];
    // Written so that a NaN fails.
    if (!(std::abs(losses[i] - want) <= tolerance * std::abs(want)))
      fail("step " + std::to_string(i) + ": expected a loss of " + std::to_string(want) +
           ", found " + std::to_string(losses[i]));
  }
}

static void checkParameter(const std::string &name, const HostTensor &expected,
                           const HostTensor *found, DType dtype, double tolerance) {
  if (!found || found->dtype() != dtype || found->shape() != expected.shape())
    return fail(name + ": expected " + typeString(dtype, expected.shape()) + ", found " +
                (found ? found->typeString() : "nothing"));
  for (int64_t i = 0; i < expected.numElements(); ++i)
    if (double want = valueAt(expected, i), have = valueAt(*found, i);
        !(std::abs(have - want) <= tolerance))
      return fail(name + "[" + std::to_string(i) + "]: expected " + std::to_string(want) +
                  ", found " + std::to_string(have));
}

int main(int argc, char **argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: pdg-check-oracle ORACLE.npz LOSSES VALUES.npz f32|f64\n");
    return 2;
  }
  bool isDouble = std::string(argv[4]) == "f64";
  DType dtype = isDouble ? DType::F64 : DType::F32;
  double tolerance = isDouble ? 1e-9 : 1e-5;
  std::vector<NamedTensor> oracle = read(argv[1]), values = read(argv[3]);
  checkLosses(find(oracle, "losses"), argv[2], tolerance);
  int parameters = 0;
  for (const NamedTensor &expected : oracle) {
    if (!expected.name.starts_with("final."))
      continue;
    ++parameters;
    std::string name = expected.name.substr(6), flat = name;
    std::replace(flat.begin(), flat.end(), '.', '_');
    const HostTensor *found = find(values, name);
    checkParameter(name, expected.tensor, found ? found : find(values, flat), dtype, tolerance);
  }
  if (parameters == 0)
    fail("the oracle has no final parameters");
  std::printf("%d parameters, %d failures\n", parameters, failures);
  return failures ? 1 : 0;
}
