// Compiles and loads generated kernels in the test process, and guards their buffers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/codegen/jit/object_compiler.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <cstring>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace pdg {

/// Lets GoogleTest name the targets that its tests run for.
inline void PrintTo(const TargetInfo &target, std::ostream *stream) { *stream << target.name; }

} // namespace pdg

namespace pdg::test {

/// A module that kernels are emitted into, then compiled and loaded as a whole.
class KernelJit {
public:
  explicit KernelJit(const TargetInfo &target);

  mlir::ModuleOp module() { return *module_; }
  const TargetInfo &target() const { return target_; }

  /// Compiles and loads the module. Aborts with the message if that fails.
  void compile();

  /// The address of a function of the compiled module.
  template <typename Function> Function *lookup(const std::string &name) {
    return reinterpret_cast<Function *>(address(name));
  }

private:
  void *address(const std::string &name);

  TargetInfo target_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

/// Memory between two inaccessible pages. The bytes lie against the upper page, or against the
/// lower one, so that any access beyond that side faults.
class GuardedBuffer {
public:
  enum class Side { Low, High };
  GuardedBuffer(size_t bytes, Side side, size_t alignment);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer &) = delete;

  void *data() const { return data_; }

private:
  void *mapping_, *data_;
  size_t mapped_;
};

/// An array in guarded memory.
template <typename T> class Guarded {
public:
  explicit Guarded(size_t size, GuardedBuffer::Side side = GuardedBuffer::Side::High,
                   size_t alignment = alignof(T))
      : buffer_(size * sizeof(T), side, alignment), size_(size) {}

  T *data() { return static_cast<T *>(buffer_.data()); }
  T &operator[](size_t index) { return data()[index]; }
  std::span<T> values() { return {data(), size_}; }

private:
  GuardedBuffer buffer_;
  size_t size_;
};

/// The targets that this processor runs.
std::vector<TargetInfo> testedTargets();

/// True if `target` is tested with the `index`-th of many random shapes: targets take turns. Slow
/// tests give every shape to each.
bool takesTurn(const TargetInfo &target, int index);

/// Bits are compared, except that all NaNs are one value.
template <typename T> bool sameBits(T x, T y) {
  return std::memcmp(&x, &y, sizeof(T)) == 0 || (x != x && y != y);
}

} // namespace pdg::test
