// Built-in functions of windows that move over pictures: convolutions and pooling. Those over one
// axis are those over two with a height of 1; that over three puts depth into the channels.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/builtins.h"
#include "ir/ops/convolution.h"
#include "ir/ops/elementwise_binary.h"
#include "ir/ops/indexing.h"
#include "ir/ops/layout.h"
#include "ir/ops/pooling.h"
#include "ir/ops/shape.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace pdg {

using Numbers = SmallVector<int64_t>;

//===- Arguments -----------------------------------------------------------===//

/// The numbers of argument `i`: one that counts for all of `count`, or as many; `otherwise` if the
/// argument is absent.
static std::optional<Numbers> readNumbers(BuiltinCall &call, size_t i, size_t count, int64_t least,
                                          const Numbers &otherwise) {
  if (!call.has(i))
    return otherwise;
  std::vector<Datum> values(count, call.value(i));
  if (auto *sequence = call.value(i).get<SequencePtr>())
    values = (*sequence)->elements;
  if (values.size() != count) {
    call.error(i, count == 1 ? "one number" : absl::StrCat("one number or ", count));
    return std::nullopt;
  }
  Numbers result;
  for (const Datum &each : values) {
    auto known = call.elaborator.constantInt({each, call.args[i].span}, "a size of a window");
    if (!known)
      return std::nullopt;
    constexpr int64_t MaxWindow = 1 << 20;
    if (*known < least || *known > MaxWindow) {
      call.emit.error(
          DiagCode::PD0111, call.args[i].span,
          absl::StrCat("expected a number from ", least, " to ", MaxWindow, ", found ", *known));
      return std::nullopt;
    }
    result.push_back(*known);
  }
  return result;
}

namespace {

/// How a window moves over the last axes of a tensor.
struct Moves {
  Numbers window, stride, dilation;
  Numbers padding; ///< Before and after, for each axis in turn.
  int64_t groups = 1;

  int64_t reach(size_t axis) const { return (window[axis] - 1) * dilation[axis] + 1; }
};

} // namespace

/// Padding so that there is one output for `stride` positions: an odd one goes to the end.
static std::optional<Numbers> samePadding(BuiltinCall &call, size_t i, const Moves &moves,
                                          ArrayRef<int64_t> picture) {
  Numbers result;
  for (auto [axis, size] : llvm::enumerate(picture)) {
    if (ShapedType::isDynamic(size)) {
      call.emit.error(DiagCode::PD0101, call.args[i].span,
                      absl::StrCat("padding \"same\" needs the sizes of the picture, and axis ",
                                   axis + 2, " is known to the run only"));
      return std::nullopt;
    }
    int64_t stride = moves.stride[axis], count = llvm::divideCeil(size, stride);
    int64_t total = std::max<int64_t>(0, (count - 1) * stride + moves.reach(axis) - size);
    result.append({total / 2, total - total / 2});
  }
  return result;
}

/// The padding in argument `i`: a number; one for each axis; two for each axis; "valid", none; or
/// "same".
static std::optional<Numbers> readPadding(BuiltinCall &call, size_t i, const Moves &moves,
                                          ArrayRef<int64_t> picture) {
  size_t axes = moves.window.size();
  if (auto *text = call.value(i).get<std::string>()) {
    if (*text == "valid")
      return Numbers(2 * axes, 0);
    if (*text == "same")
      return samePadding(call, i, moves, picture);
    call.emit.error(DiagCode::PD0111, call.args[i].span,
                    absl::StrCat("expected \"same\", \"valid\" or numbers, found \"", *text, "\""));
    return std::nullopt;
  }
  auto *sequence = call.value(i).get<SequencePtr>();
  bool isPerSide = sequence && (*sequence)->elements.size() == 2 * axes;
  auto numbers =
      readNumbers(call, i, isPerSide ? 2 * axes : axes, 0, Numbers(isPerSide ? 2 * axes : axes, 0));
  if (!numbers || isPerSide)
    return numbers;
  Numbers result;
  for (int64_t number : *numbers)
    result.append({number, number});
  return result;
}

static const char *axesText(size_t axes) {
  return axes == 1   ? "[examples, channels, length]"
         : axes == 2 ? "[examples, channels, height, width]"
                     : "[examples, channels, depth, height, width]";
}

/// Reports a tensor that has not two axes and `axes` more.
static bool checkRank(BuiltinCall &call, size_t i, Value value, size_t axes,
                      const char *text = nullptr) {
  if (Emitter::rankOf(value) == static_cast<int64_t>(axes) + 2)
    return true;
  call.emit.error(DiagCode::PD0101, call.args[i].span,
                  absl::StrCat("'", call.builtin.name, "' expects ", axes + 2, " axes ",
                               text ? text : axesText(axes), ", found ",
                               call.emit.typeText(value)));
  return false;
}

//===- Axes ----------------------------------------------------------------===//

static Value reshape(BuiltinCall &call, Value x, const ShapeArg &shape) {
  return call.emit.make<ReshapeOp>(call.span, x, shape.sizes, shape.shape);
}

/// [a, b, length] as [a, b, 1, length].
static Value withHeight(BuiltinCall &call, Value x) {
  ShapeArg shape = call.emit.shapeOf(x, call.span);
  shape.shape.insert(shape.shape.begin() + 2, 1);
  return reshape(call, x, shape);
}

static Value withoutHeight(BuiltinCall &call, Value x) {
  ShapeArg shape = call.emit.shapeOf(x, call.span);
  shape.shape.erase(shape.shape.begin() + 2);
  return reshape(call, x, shape);
}

/// `moves` over one axis as moves over two, the first of size 1.
static Moves overTwoAxes(Moves moves) {
  for (Numbers *numbers : {&moves.window, &moves.stride, &moves.dilation})
    numbers->insert(numbers->begin(), 1);
  moves.padding.insert(moves.padding.begin(), {0, 0});
  return moves;
}

//===- Convolutions --------------------------------------------------------===//

namespace {

/// The operands of a convolution and how it moves.
struct Convolution {
  Value x, w;
  Moves moves;
};

} // namespace

/// Two operands of floats of one type; false after an error.
static bool readOperands(BuiltinCall &call, Convolution &conv) {
  conv.x = call.floats(0);
  conv.w = conv.x ? call.floats(1) : Value();
  if (!conv.w)
    return false;
  if (Emitter::dtypeOf(conv.x) == Emitter::dtypeOf(conv.w))
    return true;
  call.emit.error(DiagCode::PD0100, call.span, "the operands have different element types")
      .withSecondary(call.args[0].span, absl::StrCat("this is ", call.emit.typeText(conv.x)))
      .withSecondary(call.args[1].span, absl::StrCat("this is ", call.emit.typeText(conv.w)));
  return false;
}

/// Reads x, w and, from argument `next` on, dilation and groups; the stride is argument 2 and the
/// padding argument 3. Nothing after an error.
static std::optional<Convolution> readConvolution(BuiltinCall &call, size_t axes, size_t next) {
  Convolution conv;
  if (!readOperands(call, conv) || !checkRank(call, 0, conv.x, axes) ||
      !checkRank(call, 1, conv.w, axes,
                 axes == 1   ? "[filters, channels, length]"
                 : axes == 2 ? "[filters, channels, height, width]"
                             : "[filters, channels, depth, height, width]"))
    return std::nullopt;
  auto weights = Emitter::typeOf(conv.w).getShape();
  if (llvm::any_of(weights, ShapedType::isDynamic)) {
    call.emit.error(DiagCode::PD0101, call.args[1].span,
                    absl::StrCat("'", call.builtin.name,
                                 "' expects weights whose sizes are known when compiling"));
    return std::nullopt;
  }
  conv.moves.window.append(weights.begin() + 2, weights.end());
  auto stride = readNumbers(call, 2, axes, 1, Numbers(axes, 1));
  auto dilation = stride ? readNumbers(call, next, axes, 1, Numbers(axes, 1)) : std::nullopt;
  auto groups = dilation ? readNumbers(call, next + 1, 1, 1, {1}) : std::nullopt;
  if (!groups)
    return std::nullopt;
  conv.moves.stride = *stride;
  conv.moves.dilation = *dilation;
  conv.moves.groups = groups->front();
  auto padding = readPadding(call, 3, conv.moves, Emitter::typeOf(conv.x).getShape().drop_front(2));
  if (!padding)
    return std::nullopt;
  conv.moves.padding = *padding;
  return conv;
}

static Value makeConv2d(BuiltinCall &call, const Convolution &conv) {
  const Moves &m = conv.moves;
  return call.emit.make<Conv2dOp>(call.span, conv.x, conv.w, Value(), false, m.stride, m.padding,
                                  m.dilation, m.groups);
}

static Datum conv1d(BuiltinCall &call) {
  auto conv = readConvolution(call, 1, 4);
  if (!conv)
    return Poison();
  Value x = withHeight(call, conv->x), w = x ? withHeight(call, conv->w) : Value();
  Value y = w ? makeConv2d(call, {x, w, overTwoAxes(conv->moves)}) : Value();
  return y ? result(withoutHeight(call, y)) : Datum(Poison());
}

static Datum conv2d(BuiltinCall &call) {
  auto conv = readConvolution(call, 2, 4);
  return conv ? result(makeConv2d(call, *conv)) : Datum(Poison());
}

/// The slices of depth that the windows see, as channels: [n, c, d, h, w] becomes [n * windows,
/// c * window, h, w]. A convolution of them has the order of sums of one over three axes.
static Value depthInChannels(BuiltinCall &call, Value x, const Moves &m, int64_t windows) {
  Emitter &emit = call.emit;
  Value padded = emit.make<PadOp>(call.span, x, int64_t{2}, m.padding[0], m.padding[1]);
  Value byDepth =
      padded ? emit.make<TransposeOp>(call.span, padded, Numbers{2, 0, 1, 3, 4}) : Value();
  if (!byDepth)
    return {};
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < windows; ++i)
    for (int64_t t = 0; t < m.window[0]; ++t)
      ids.push_back(i * m.stride[0] + t * m.dilation[0]);
  auto type = RankedTensorType::get({windows, m.window[0]}, emit.elementOf(DType::I64));
  Value places = ConstantOp::create(emit.b, emit.loc(call.span),
                                    DenseElementsAttr::get(type, ArrayRef<int64_t>(ids)));
  // [windows, window, n, c, h, w]
  Value slices = emit.make<GatherOp>(call.span, byDepth, places);
  Value ordered =
      slices ? emit.make<TransposeOp>(call.span, slices, Numbers{2, 0, 3, 1, 4, 5}) : Value();
  if (!ordered)
    return {};
  auto sizes = Emitter::typeOf(x).getShape();
  ShapeArg shape{{sizes[0], sizes[1] * m.window[0], sizes[3], sizes[4]}, {}};
  if (!ShapedType::isDynamic(sizes[0]))
    shape.shape[0] *= windows;
  else
    shape.sizes.push_back(emit.make<MulOp>(call.span, emit.sizeOf(x, 0, call.span),
                                           emit.constant(windows, DType::I64, call.span)));
  return reshape(call, ordered, shape);
}

static Datum conv3d(BuiltinCall &call) {
  auto conv = readConvolution(call, 3, 4);
  if (!conv)
    return Poison();
  Moves &m = conv->moves;
  auto sizes = Emitter::typeOf(conv->x).getShape(), weights = Emitter::typeOf(conv->w).getShape();
  if (llvm::any_of(sizes.drop_front(1), ShapedType::isDynamic)) {
    call.emit.error(DiagCode::PD0101, call.args[0].span,
                    "'conv3d' expects sizes that are known when compiling, but for the examples");
    return Poison();
  }
  int64_t depth = sizes[2] + m.padding[0] + m.padding[1];
  constexpr int64_t MaxSlices = 1 << 16;
  if (depth < m.reach(0) || m.reach(0) > MaxSlices || depth > MaxSlices) {
    call.emit.error(DiagCode::PD0101, call.span,
                    absl::StrCat("'conv3d' expects a depth of at least ", m.reach(0),
                                 ", which the window covers, and at most ", MaxSlices, ", found ",
                                 depth, " with padding"));
    return Poison();
  }
  int64_t windows = (depth - m.reach(0)) / m.stride[0] + 1;
  Value x = depthInChannels(call, conv->x, m, windows);
  Value w = x ? reshape(call, conv->w,
                        {{weights[0], weights[1] * weights[2], weights[3], weights[4]}, {}})
              : Value();
  if (!w)
    return Poison();
  auto rest = [](const Numbers &numbers, size_t count) {
    return Numbers(numbers.begin() + count, numbers.end());
  };
  Moves inPlane{rest(m.window, 1), rest(m.stride, 1), rest(m.dilation, 1), rest(m.padding, 2),
                m.groups};
  Value y = makeConv2d(call, {x, w, inPlane});
  if (!y)
    return Poison();
  auto planes = Emitter::typeOf(y).getShape();
  ShapeArg shape{{sizes[0], windows, planes[1], planes[2], planes[3]}, {}};
  if (ShapedType::isDynamic(sizes[0]))
    shape.sizes.push_back(call.emit.sizeOf(conv->x, 0, call.span));
  Value volumes = reshape(call, y, shape);
  return volumes ? result(call.emit.make<TransposeOp>(call.span, volumes, Numbers{0, 2, 1, 3, 4}))
                 : Datum(Poison());
}

//===- Transposed convolutions ---------------------------------------------===//

/// The result of a convolution's input gradient whose sizes follow from the padding of the output.
static Value makeTransposed(BuiltinCall &call, const Convolution &conv,
                            const Numbers &outputPadding) {
  const Moves &m = conv.moves;
  auto sizes = Emitter::typeOf(conv.x).getShape();
  Numbers picture;
  for (int axis : {0, 1}) {
    if (ShapedType::isDynamic(sizes[2 + axis])) {
      call.emit.error(DiagCode::PD0101, call.args[0].span,
                      absl::StrCat("'", call.builtin.name,
                                   "' expects sizes that are known when compiling, but for the "
                                   "examples"));
      return {};
    }
    picture.push_back((sizes[2 + axis] - 1) * m.stride[axis] + m.reach(axis) + outputPadding[axis] -
                      m.padding[2 * axis] - m.padding[2 * axis + 1]);
  }
  return call.emit.make<Conv2dInputGradOp>(call.span, conv.x, conv.w, picture, m.stride, m.padding,
                                           m.dilation, m.groups);
}

/// Argument 4: how many more positions the result has at the end, for each axis.
static std::optional<Numbers> readOutputPadding(BuiltinCall &call, const Moves &moves) {
  size_t axes = moves.window.size();
  auto numbers = readNumbers(call, 4, axes, 0, Numbers(axes, 0));
  for (size_t axis = 0; numbers && axis < axes; ++axis)
    if ((*numbers)[axis] >= moves.stride[axis]) {
      call.emit.error(DiagCode::PD0111, call.has(4) ? call.args[4].span : call.span,
                      absl::StrCat("expected an output padding below the stride of ",
                                   moves.stride[axis], ", found ", (*numbers)[axis]));
      return std::nullopt;
    }
  return numbers;
}

static Datum convTranspose1d(BuiltinCall &call) {
  auto conv = readConvolution(call, 1, 5);
  auto extra = conv ? readOutputPadding(call, conv->moves) : std::nullopt;
  if (!extra)
    return Poison();
  Value x = withHeight(call, conv->x), w = x ? withHeight(call, conv->w) : Value();
  extra->insert(extra->begin(), 0);
  Value y = w ? makeTransposed(call, {x, w, overTwoAxes(conv->moves)}, *extra) : Value();
  return y ? result(withoutHeight(call, y)) : Datum(Poison());
}

static Datum convTranspose2d(BuiltinCall &call) {
  auto conv = readConvolution(call, 2, 5);
  auto extra = conv ? readOutputPadding(call, conv->moves) : std::nullopt;
  return extra ? result(makeTransposed(call, *conv, *extra)) : Datum(Poison());
}

//===- Pooling -------------------------------------------------------------===//

/// Reports windows that are larger than the picture, or padding that is as large as the window.
static bool checkPooling(BuiltinCall &call, Value x, const Moves &m) {
  auto picture = Emitter::typeOf(x).getShape().drop_front(2);
  for (auto [axis, size] : llvm::enumerate(picture)) {
    int64_t before = m.padding[2 * axis], after = m.padding[2 * axis + 1];
    if (std::max(before, after) >= m.window[axis]) {
      call.emit.error(DiagCode::PD0111, call.has(3) ? call.args[3].span : call.span,
                      absl::StrCat("expected a padding below the window of ", m.window[axis],
                                   ", found ", std::max(before, after)));
      return false;
    }
    if (ShapedType::isDynamic(size) || size + before + after >= m.window[axis])
      continue;
    call.emit.error(DiagCode::PD0101, call.args[0].span,
                    absl::StrCat("'", call.builtin.name, "' expects a picture that the window of ",
                                 m.window[axis], " fits into, found ", call.emit.typeText(x)));
    return false;
  }
  return true;
}

/// x, window (2 if absent), stride (the window if absent), padding.
static std::optional<std::pair<Value, Moves>> readPooling(BuiltinCall &call, size_t axes) {
  Value x = call.floats(0);
  if (!x || !checkRank(call, 0, x, axes))
    return std::nullopt;
  Moves moves;
  moves.dilation = Numbers(axes, 1);
  auto window = readNumbers(call, 1, axes, 1, Numbers(axes, 2));
  auto stride = window ? readNumbers(call, 2, axes, 1, *window) : std::nullopt;
  if (!stride)
    return std::nullopt;
  moves.window = *window;
  moves.stride = *stride;
  auto padding = readPadding(call, 3, moves, Emitter::typeOf(x).getShape().drop_front(2));
  if (!padding)
    return std::nullopt;
  moves.padding = *padding;
  if (!checkPooling(call, x, moves))
    return std::nullopt;
  if (axes == 2)
    return std::pair(x, moves);
  x = withHeight(call, x);
  return x ? std::optional(std::pair(x, overTwoAxes(moves))) : std::nullopt;
}

template <size_t axes> static Datum maxPool(BuiltinCall &call) {
  auto pooling = readPooling(call, axes);
  if (!pooling)
    return Poison();
  auto &[x, m] = *pooling;
  Value y = call.emit.make<MaxPool2dOp>(call.span, x, m.window, m.stride, m.padding);
  return y && axes == 1 ? result(withoutHeight(call, y)) : result(y);
}

template <size_t axes> static Datum avgPool(BuiltinCall &call) {
  auto pooling = readPooling(call, axes);
  if (!pooling)
    return Poison();
  auto &[x, m] = *pooling;
  Value sum = call.emit.make<SumPool2dOp>(call.span, x, m.window, m.stride, m.padding);
  if (!sum)
    return Poison();
  double elements = static_cast<double>(m.window[0] * m.window[1]);
  Value count = call.emit.constant(elements, Emitter::dtypeOf(x), call.span);
  Value y = call.emit.binary<DivOp>(sum, count, call.span);
  return y && axes == 1 ? result(withoutHeight(call, y)) : result(y);
}

ArrayRef<Builtin> windowBuiltins() {
  static const char convolution[] = "x, w, stride?, padding?, dilation?, groups?";
  static const char transposed[] = "x, w, stride?, padding?, output_padding?, dilation?, groups?";
  static const char pooling[] = "x, window?, stride?, padding?";
  static const Builtin table[] = {
      {"conv1d", convolution, conv1d,
       "conv2d along one axis: x [N, C, L] and w [K, C / groups, R] give [N, K, L'].",
       "let x = tensor([1.0, 2.0, 3.0, 4.0])\n"
       "let y = conv1d(reshape(x, [1, 1, 4]), ones([1, 1, 2]))\n"
       "print(reshape(y, [3])) # f32[3] [3.0, 5.0, 7.0]"},
      {"conv2d", convolution, conv2d,
       "Cross-correlation: pictures x [N, C, H, W] and weights w [K, C / groups, R, S] give "
       "[N, K, H', W'] with H' = (H + padding at both ends - dilation (R - 1) - 1) // stride + 1. "
       "Stride, padding and dilation are a number or (vertical, horizontal); padding may also be "
       "(top, bottom, left, right), \"valid\" (none) or \"same\" (H' = H / stride, rounded up; an "
       "odd one goes to the bottom and right). Filters [k K / groups, (k + 1) K / groups) see the "
       "k-th of `groups` equal parts of the channels.",
       "let x = reshape(tensor([1.0, 2.0, 3.0, 4.0]), [1, 1, 2, 2])\n"
       "let y = conv2d(x, ones([1, 1, 2, 2]), padding: \"same\")\n"
       "print(reshape(y, [4])) # f32[4] [10.0, 6.0, 7.0, 4.0]"},
      {"conv3d", convolution, conv3d,
       "conv2d along three axes: x [N, C, D, H, W] and w [K, C / groups, Q, R, S] give "
       "[N, K, D', H', W'].",
       "print(sum(conv3d(ones([1, 2, 3, 3, 3]), ones([1, 2, 3, 3, 3])))) # 54.0"},
      {"conv_transpose1d", transposed, convTranspose1d,
       "conv_transpose2d along one axis: x [N, K, L] and w [K, C / groups, R] give [N, C, L'].",
       "let x = reshape(tensor([1.0, 2.0]), [1, 1, 2])\n"
       "let y = conv_transpose1d(x, ones([1, 1, 2]), stride: 2)\n"
       "print(reshape(y, [4])) # f32[4] [1.0, 1.0, 2.0, 2.0]"},
      {"conv_transpose2d", transposed, convTranspose2d,
       "The gradient of a conv2d for its picture: x [N, K, H, W] and w [K, C / groups, R, S] give "
       "[N, C, H', W'] with H' = (H - 1) stride + dilation (R - 1) + 1 + output_padding - padding "
       "at both ends. `output_padding`, below the stride, chooses among the sizes that a conv2d "
       "maps to H.",
       "let y = conv_transpose2d(ones([1, 1, 2, 2]), ones([1, 1, 2, 2]))\n"
       "print(reshape(y, [9])) # f32[9] [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]"},
      {"max_pool1d", pooling, maxPool<1>, "max_pool2d along one axis: [N, C, L] gives [N, C, L'].",
       "let x = reshape(tensor([1.0, 4.0, 3.0, 2.0]), [1, 1, 4])\n"
       "print(reshape(max_pool1d(x), [2])) # f32[2] [4.0, 3.0]"},
      {"max_pool2d", pooling, maxPool<2>,
       "The largest element of each window: [N, C, H, W] gives [N, C, H', W'] with H' = (H + "
       "padding at both ends - window) // stride + 1. The window is 2 and the stride the window "
       "unless given; numbers are given as for conv2d. Padding, smaller than the window, never "
       "wins; a NaN does. The gradient goes to the first of equal elements.",
       "let x = reshape(tensor([1.0, 4.0, 3.0, 2.0]), [1, 1, 2, 2])\n"
       "print(reshape(max_pool2d(x), [1])) # f32[1] [4.0]"},
      {"avg_pool1d", pooling, avgPool<1>, "avg_pool2d along one axis: [N, C, L] gives [N, C, L'].",
       "let x = reshape(tensor([1.0, 4.0, 3.0, 2.0]), [1, 1, 4])\n"
       "print(reshape(avg_pool1d(x), [2])) # f32[2] [2.5, 2.5]"},
      {"avg_pool2d", pooling, avgPool<2>,
       "The mean of each window, shapes as for max_pool2d: its sum divided by its number of "
       "elements, those of the padding counted as zeros.",
       "let x = reshape(tensor([1.0, 4.0, 3.0, 2.0]), [1, 1, 2, 2])\n"
       "print(reshape(avg_pool2d(x), [1])) # f32[1] [2.5]"},
  };
  return table;
}

} // namespace pdg
