// Emission of the input gradient of a convolution: a matrix product of the filters with the
// cotangent gives the contribution of each window position, then each row of the result sums those
// that reach it, in registers.
// SPDX-License-Identifier: Apache-2.0
#include "passes/codegen/cpu/kernels/conv.h"
#include "passes/codegen/cpu/kernels/conv_kernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pdg {

namespace {

/// Vectors of a row times columns of the window: more are a loop.
constexpr int64_t kMaxUnrolled = 256;

/// Contributions above so many bytes are not kept.
constexpr int64_t kMaxKeptBytes = int64_t(1) << 26;

/// Contributions of a block of channels: a row for each (c, u, v), a column for each output pixel.
struct ContributionPlan {
  bool isDirect;         ///< A channel has too many: each is made when it is added.
  int64_t blockChannels; ///< Divides the number of channels.
  int64_t stride;        ///< Distance between rows.
  int64_t elements;      ///< Work space of a block, a multiple of 16.
};

class InputGradEmitter {
public:
  InputGradEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function, LLVM::LLVMFuncOp gemm,
                   const ConvSpec &spec, const TargetInfo &target);
  void emit();

private:
  void emitRow(Value contributions, Value h, Value to);
  /// Output columns, one in each lane.
  struct Columns {
    Value first;   ///< The picture column, with padding, that lane 0 would begin at.
    Value places;  ///< The output columns; any where `present` is false.
    Value present; ///< Which lanes have one.
  };
  using AddRow = llvm::function_ref<Values(Value u, Value i, ValueRange sums)>;
  Values eachWindowRow(ValueRange init, Value h, AddRow addRow);
  Value rowOf(Value contributions, Value u, Value i);
  void emitLongRow(Value contributions, Value h, Value to);
  void emitDirectRow(Value weights, Value cotangent, Value h, Value to);
  Columns columnsAt(Value x, Value v);
  Value loadColumns(Value from, const Columns &columns);
  void addWindowRow(Values &sums, int64_t firstVector, Value from);
  Value loadContribution(Value from, int64_t first);

  Emitter e;
  LLVM::LLVMFuncOp gemm;
  const ConvSpec &spec;
  ContributionPlan plan;
  Value g, w, dx, work, p0, p1;
};

} // namespace

static ContributionPlan planContributions(const ConvSpec &spec, const TargetInfo &target) {
  ContributionPlan plan;
  plan.stride = llvm::alignTo(spec.outPixels(), 16) + 16;
  int64_t channelBytes = spec.window() * plan.stride * (spec.isF64 ? 8 : 4);
  plan.blockChannels = 1;
  for (int64_t count = 1; count <= spec.channels; ++count)
    if (spec.channels % count == 0 && count * channelBytes <= target.l2Bytes / 2)
      plan.blockChannels = count;
  plan.isDirect = channelBytes > kMaxKeptBytes;
  plan.elements =
      plan.isDirect ? 0 : llvm::alignTo(plan.blockChannels * spec.window() * plan.stride, 16);
  return plan;
}

static GemmSpec contributionProduct(const ConvSpec &spec, const ContributionPlan &plan) {
  GemmSpec product;
  product.isF64 = spec.isF64;
  product.transA = true;
  product.m = plan.blockChannels * spec.window();
  product.n = spec.outPixels();
  product.k = spec.filters;
  product.lda = spec.terms();
  product.ldc = plan.stride;
  return product;
}

InputGradEmitter::InputGradEmitter(OpBuilder &builder, LLVM::LLVMFuncOp function,
                                   LLVM::LLVMFuncOp gemm, const ConvSpec &spec,
                                   const TargetInfo &target)
    : e(builder, function.getLoc(), spec.isF64, target), gemm(gemm), spec(spec),
      plan(planContributions(spec, target)) {
  Value *fields[] = {&g, &w, &dx, &work, &p0, &p1};
  for (auto [field, argument] : llvm::zip_equal(fields, function.getArguments()))
    *field = argument;
}

void InputGradEmitter::emit() {
  Value rows = e.c(plan.blockChannels * spec.window()), pixels = e.c(spec.outPixels());
  Value filters = e.c(spec.filters), productWork = e.at(work, plan.elements);
  int64_t plane = spec.pixels();
  e.loop(p0, p1, 1, [&](Value part) {
    Value group = exampleAndGroup(e, spec, part).second;
    Value filtersOfGroup = e.at(w, e.mul(group, e.c(spec.filters * spec.terms())));
    Value cotangent = e.at(g, e.mul(part, e.c(spec.filters * spec.outPixels())));
    if (plan.isDirect) {
      e.loop(e.c(0), e.c(spec.channels), 1, [&](Value channel) {
        Value weights = e.at(filtersOfGroup, e.mul(channel, e.c(spec.window())));
        Value to = e.at(dx, e.mul(e.add(e.mul(part, e.c(spec.channels)), channel), e.c(plane)));
        e.loop(e.c(0), e.c(spec.height), 1, [&](Value h) {
          emitDirectRow(weights, cotangent, h, e.at(to, e.mul(h, e.c(spec.width))));
        });
      });
      return;
    }
    e.loop(e.c(0), e.c(spec.channels), plan.blockChannels, [&](Value channel) {
      Value weights = e.at(filtersOfGroup, e.mul(channel, e.c(spec.window())));
      emitGemmCall(e, gemm,
                   {weights,
                    cotangent,
                    work,
                    {},
                    productWork,
                    e.c(0),
                    rows,
                    e.c(0),
                    pixels,
                    rows,
                    pixels,
                    filters});
      Value to = e.at(dx, e.mul(e.add(e.mul(part, e.c(spec.channels)), channel), e.c(plane)));
      e.loop(e.c(0), e.c(plan.blockChannels), 1, [&](Value c) {
        Value contributions = e.at(work, e.mul(c, e.c(spec.window() * plan.stride)));
        e.loop(e.c(0), e.c(spec.height), 1, [&](Value h) {
          emitRow(contributions, h,
                  e.at(to, e.add(e.mul(c, e.c(plane)), e.mul(h, e.c(spec.width)))));
        });
      });
    });
  });
}

/// Sums row h of the picture.
void InputGradEmitter::emitRow(Value contributions, Value h, Value to) {
  int64_t vectors = llvm::divideCeil(spec.width, e.vl), chunk = 8;
  if (vectors * spec.kernelW > kMaxUnrolled)
    return emitLongRow(contributions, h, to);
  for (int64_t first = 0; first < vectors; first += chunk) {
    int64_t count = std::min(chunk, vectors - first);
    Values sums =
        eachWindowRow(Values(count, e.zero()), h, [&](Value u, Value i, ValueRange carried) {
          Values result(carried);
          addWindowRow(result, first, rowOf(contributions, u, i));
          return result;
        });
    for (int64_t index = 0; index < count; ++index) {
      int64_t x = (first + index) * e.vl;
      e.store(sums[index], e.at(to, x), e.maskBelow(e.c(spec.width - x)));
    }
  }
}

/// The same for rows whose code would be too long: vectors and window columns are loops.
void InputGradEmitter::emitLongRow(Value contributions, Value h, Value to) {
  e.loop(e.c(0), e.c(spec.width), e.vl, [&](Value x) {
    Values sums = eachWindowRow(e.zero(), h, [&](Value u, Value i, ValueRange rows) {
      Value row = rowOf(contributions, u, i);
      return e.loop(e.c(0), e.c(spec.kernelW), 1, rows, [&](Value v, ValueRange carried) {
        Value from = e.at(row, e.mul(v, e.c(plan.stride)));
        return Values{e.addF(carried[0], loadColumns(from, columnsAt(x, v)))};
      });
    });
    e.store(sums[0], e.at(to, x), e.maskBelow(e.sub(e.c(spec.width), x)));
  });
}

/// The same from the weights of the channel and the cotangent: nothing is kept.
void InputGradEmitter::emitDirectRow(Value weights, Value cotangent, Value h, Value to) {
  auto chain = [&](Value weight, Value row, const Columns &columns) {
    return e.loop(e.c(0), e.c(spec.filters), 1, e.zero(), [&](Value o, ValueRange sum) {
      Value factor = e.broadcast(e.loadScalar(e.at(weight, e.mul(o, e.c(spec.terms())))));
      Value from = e.at(row, e.mul(o, e.c(spec.outPixels())));
      return Values{e.fma(factor, loadColumns(from, columns), sum[0])};
    })[0];
  };
  e.loop(e.c(0), e.c(spec.width), e.vl, [&](Value x) {
    Values sums = eachWindowRow(e.zero(), h, [&](Value u, Value i, ValueRange rows) {
      Value row = e.at(cotangent, e.mul(i, e.c(spec.outWidth())));
      Value weight = e.at(weights, e.mul(u, e.c(spec.kernelW)));
      return e.loop(e.c(0), e.c(spec.kernelW), 1, rows, [&](Value v, ValueRange carried) {
        Columns columns = columnsAt(x, v);
        Value term = chain(e.at(weight, v), row, columns);
        return Values{e.addF(carried[0], e.select(columns.present, term, e.zero()))};
      });
    });
    e.store(sums[0], e.at(to, x), e.maskBelow(e.sub(e.c(spec.width), x)));
  });
}

/// Where the contributions of window row u of output row i are.
Value InputGradEmitter::rowOf(Value contributions, Value u, Value i) {
  return e.at(contributions,
              e.add(e.mul(u, e.c(spec.kernelW * plan.stride)), e.mul(i, e.c(spec.outWidth()))));
}

/// Visits the window rows u that reach row h: those with h + padTop - u * dilationH = i * strideH
/// for an output row i.
Values InputGradEmitter::eachWindowRow(ValueRange init, Value h, AddRow addRow) {
  Value reach = e.add(h, e.c(spec.padTop));
  auto add = [&](Value u, Value start, ValueRange carried) {
    return addRow(u, e.div(start, e.c(spec.strideH)), carried);
  };
  int64_t lastStart = (spec.outHeight() - 1) * spec.strideH;
  if (spec.dilationH == 1) {
    Value firstU = e.max(e.rem(reach, e.c(spec.strideH)), e.sub(reach, e.c(lastStart)));
    Value endU = e.min(e.c(spec.kernelH), e.add(reach, e.c(1)));
    return e.loop(firstU, endU, spec.strideH, init,
                  [&](Value u, ValueRange carried) { return add(u, e.sub(reach, u), carried); });
  }
  return e.loop(e.c(0), e.c(spec.kernelH), 1, init, [&](Value u, ValueRange carried) {
    Value start = e.sub(reach, e.mul(u, e.c(spec.dilationH)));
    Value isInside = e.both(e.less(e.c(-1), start), e.less(start, e.c(lastStart + 1)));
    // Negative starts are no multiples either, but are not asked: `rem` is for others.
    Value isStart = e.equal(e.rem(e.max(start, e.c(0)), e.c(spec.strideH)), e.c(0));
    return e.choose(
        e.both(isInside, isStart), [&] { return add(u, start, carried); },
        [&] { return Values(carried); });
  });
}

void InputGradEmitter::addWindowRow(Values &sums, int64_t firstVector, Value from) {
  for (int64_t v = 0; v < spec.kernelW; ++v)
    for (auto [index, sum] : llvm::enumerate(sums)) {
      int64_t x = (firstVector + int64_t(index)) * e.vl;
      if (Value term =
              loadContribution(e.at(from, v * plan.stride), x + spec.padLeft - v * spec.dilationW))
        sum = e.addF(sum, term);
    }
}

/// Loads lane l from output column (first + l) / strideW of the row at `from`; lanes without such a
/// column are +0, which changes no sum that began with +0. Null if no lane has one.
Value InputGradEmitter::loadContribution(Value from, int64_t first) {
  SmallVector<int64_t> offsets(e.vl, 0);
  SmallVector<bool> present(e.vl, false);
  for (int lane = 0; lane < e.vl; ++lane) {
    int64_t column = first + lane;
    present[lane] =
        column >= 0 && column % spec.strideW == 0 && column / spec.strideW < spec.outWidth();
    if (present[lane])
      offsets[lane] = column / spec.strideW;
  }
  if (llvm::none_of(present, [](bool lane) { return lane; }))
    return {};
  if (spec.strideW == 1)
    return e.load(e.at(from, first), e.constantMask(present));
  return e.gather(from, offsets, e.constantMask(present));
}

/// The output columns whose window has column x of the picture at its column v, for each lane.
InputGradEmitter::Columns InputGradEmitter::columnsAt(Value x, Value v) {
  auto type = VectorType::get({e.vl}, e.i64);
  auto splat = [&](Value number) -> Value {
    return vector::BroadcastOp::create(e.b, e.loc, type, number);
  };
  Value first = e.sub(e.add(x, e.c(spec.padLeft)), e.mul(v, e.c(spec.dilationW)));
  auto lanes = llvm::to_vector(llvm::seq<int64_t>(0, e.vl));
  Value iota = arith::ConstantOp::create(e.b, e.loc, DenseIntElementsAttr::get(type, lanes));
  Value column = e.add(splat(first), iota), stride = splat(e.c(spec.strideW));
  Value places = arith::DivUIOp::create(e.b, e.loc, e.max(column, splat(e.c(0))), stride);
  Value isStart = e.equal(e.mul(places, stride), column);
  return {first, places, e.both(isStart, e.less(places, splat(e.c(spec.outWidth()))))};
}

Value InputGradEmitter::loadColumns(Value from, const Columns &columns) {
  if (spec.strideW == 1)
    return e.load(e.at(from, columns.first), columns.present);
  return e.gatherAt(from, columns.places, columns.present);
}

int64_t convInputGradWorkBytes(const ConvSpec &spec, const TargetInfo &target) {
  ContributionPlan plan = planContributions(spec, target);
  return plan.elements * (spec.isF64 ? 8 : 4) +
         gemmWorkBytes(contributionProduct(spec, plan), target);
}

LLVM::LLVMFuncOp emitConvInputGrad(ModuleOp module, const ConvSpec &spec,
                                   const TargetInfo &target) {
  std::string name = convSymbolName("input_grad", spec, target);
  if (auto existing = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return existing;
  LLVM::LLVMFuncOp gemm =
      emitGemm(module, contributionProduct(spec, planContributions(spec, target)), target);
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext()), i64 = builder.getI64Type();
  LLVM::LLVMFuncOp function =
      startFunction(module, name, {pointer, pointer, pointer, pointer, i64, i64}, builder);
  InputGradEmitter(builder, function, gemm, spec, target).emit();
  return function;
}

} // namespace pdg
