// What ops of moving windows share: their numbers, sizes and sharding.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/window_interfaces.h"

namespace pdg {

/// A window from the attributes of an op, which are right.
WindowShape windowOf(llvm::ArrayRef<int64_t> size, llvm::ArrayRef<int64_t> stride,
                     llvm::ArrayRef<int64_t> padding, llvm::ArrayRef<int64_t> dilation = {1, 1});

/// The same, when the attributes may be wrong: reports that to `rule`.
mlir::FailureOr<WindowShape> readWindow(llvm::ArrayRef<int64_t> size,
                                        llvm::ArrayRef<int64_t> stride,
                                        llvm::ArrayRef<int64_t> padding,
                                        llvm::ArrayRef<int64_t> dilation, ShapeRule &rule);

/// Reports an operand without four axes.
mlir::LogicalResult checkPictures(llvm::ArrayRef<Dims> operands, ShapeRule &rule);

/// The last two of four sizes as numbers; reports those that are not known.
mlir::FailureOr<std::array<int64_t, 2>> knownPicture(const Dims &dims, llvm::StringRef what,
                                                     ShapeRule &rule);

/// Height and width of what a window gives from a picture of height and width `picture`; reports a
/// picture that is too small.
mlir::FailureOr<std::array<int64_t, 2>> windowsOver(llvm::ArrayRef<int64_t> picture,
                                                    const WindowShape &window, ShapeRule &rule);

/// Reports that height and width of `dims` are not those of `expected`.
mlir::LogicalResult checkWindows(const Dims &dims, std::array<int64_t, 2> expected,
                                 ShapeRule &rule);

/// Axis 0 of `op`'s result and of the operands `withExamples` is parallel, everything else is
/// whole.
ShardingRule byExample(mlir::Operation *op, llvm::ArrayRef<unsigned> withExamples);

} // namespace pdg
