// Data sources: their arguments, what their files say, and the blocks that batches go through.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/elaborator.h"
#include "frontend/foreign.h"
#include "frontend/names.h"
#include "ir/ops/variable.h"
#include "runtime/base/text.h"
#include "runtime/data/reader.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cstdint>

using namespace mlir;

namespace pdg {

/// The arguments that every reader takes.
static constexpr const char *sourceArguments[] = {"batch", "shuffle", "seed",   "skip", "limit",
                                                  "from",  "to",      "repeat", "map"};

//===- Arguments -----------------------------------------------------------===//

/// A constant as the runtime takes it.
static std::optional<OptionValue> optionOf(const Datum &value) {
  OptionValue option;
  if (auto *text = value.get<std::string>()) {
    option.text = *text;
  } else if (auto *number = value.get<int64_t>()) {
    option.text = absl::StrCat(*number);
  } else if (auto *flag = value.get<bool>()) {
    option.text = *flag ? "true" : "false";
  } else if (auto *type = value.get<DType>()) {
    option.text = nameOf(*type);
  } else if (auto *sequence = value.get<SequencePtr>()) {
    option.isList = true;
    for (const Datum &element : (*sequence)->elements) {
      auto each = optionOf(element);
      if (!each)
        return std::nullopt;
      option.list.push_back(*std::move(each));
    }
  } else {
    return std::nullopt;
  }
  return option;
}

/// An option as an attribute: a text, or a list.
static Attribute attributeOf(OpBuilder &builder, const OptionValue &option) {
  if (!option.isList)
    return builder.getStringAttr(option.text);
  SmallVector<Attribute> list;
  for (const OptionValue &each : option.list)
    list.push_back(attributeOf(builder, each));
  return builder.getArrayAttr(list);
}

/// True for readers of which each file name is a field of an example.
static bool isFieldPerFile(const Reader &reader) {
  return reader.name == "idx" || reader.name == "npy";
}

bool Elaborator::readFileArg(const CallArg &arg, const Reader &reader, Source &source) {
  Operand value = evalOperand(*arg.value);
  if (value.value.isPoison())
    return false;
  auto option = optionOf(value.value);
  bool isName = value.value.is<std::string>();
  if (auto *list = value.value.get<SequencePtr>()) {
    isName = !(*list)->elements.empty() && !isFieldPerFile(reader);
    for (const Datum &each : (*list)->elements)
      isName &= each.is<std::string>();
  }
  if (!isName) {
    Diagnostic &error = typeError(value.span, "the name of a file", value.value);
    if (isFieldPerFile(reader))
      error.withNote("each name is a field of an example; a pattern such as \"images-*.npy\" "
                     "stands for several files");
    return false;
  }
  for (const std::string &name : textsOf(*option))
    source.info.files.push_back(name);
  return true;
}

std::optional<int64_t> Elaborator::sourceNumber(const CallArg &arg, int64_t least,
                                                const char *what) {
  Operand value = evalOperand(*arg.value);
  if (value.value.isPoison())
    return std::nullopt;
  auto number = constantInt(value, absl::StrCat("'", arg.name, "'"));
  if (!number || (*number >= least && *number <= INT32_MAX))
    return number;
  emit.error(DiagCode::PD0105, value.span,
             absl::StrCat("expected ", what, " of ", least, " to ", INT32_MAX, " examples, found ",
                          *number));
  return std::nullopt;
}

/// true, false, or window(n), which is written here only.
bool Elaborator::readShuffle(const CallArg &arg, SourceInfo &info) {
  auto *call = dynAs<CallExpr>(arg.value.get());
  auto *name = call ? dynAs<NameExpr>(call->callee.get()) : nullptr;
  if (name && name->isBuiltin && name->name == "window") {
    info.shuffle = true;
    if (call->args.size() != 1 || !call->args[0].name.empty()) {
      emit.error(DiagCode::PD0105, call->span,
                 absl::StrCat("expected one argument for 'window', found ", call->args.size()))
          .withHint("window(10000) shuffles inside windows of 10000 examples");
      return false;
    }
    auto size = sourceNumber(call->args[0], 1, "a window");
    info.window = size.value_or(1);
    return size.has_value();
  }
  Operand value = evalOperand(*arg.value);
  if (value.value.isPoison())
    return false;
  auto flag = constantBool(value.value);
  if (!flag)
    typeError(value.span, "true, false or window(n) for 'shuffle'", value.value);
  info.shuffle = flag.value_or(false);
  return flag.has_value();
}

bool Elaborator::readShare(const CallArg &arg, SourceInfo &info) {
  Operand value = evalOperand(*arg.value);
  if (value.value.isPoison())
    return false;
  auto share = constantFloat(value, absl::StrCat("'", arg.name, "'"));
  if (share && !(0 <= *share && *share <= 1)) {
    emit.error(DiagCode::PD0105, value.span,
               absl::StrCat("expected a share of 0 to 1 for '", arg.name, "', found ", *share))
        .withHint("to: 0.8 takes the first four fifths, from: 0.8 the rest");
    return false;
  }
  (arg.name == "from" ? info.from : info.to) = share.value_or(0);
  return share.has_value();
}

bool Elaborator::readStages(const CallArg &arg, Source &source) {
  SmallVector<const Expr *> blocks{arg.value.get()};
  if (auto *list = dynAs<ListExpr>(arg.value.get())) {
    blocks.clear();
    for (const ExprPtr &element : list->elements)
      blocks.push_back(element.get());
  }
  for (const Expr *expr : blocks) {
    Datum block = partial(*expr);
    if (block.isPoison())
      return false;
    if (!block.is<BlockPtr>()) {
      typeError(expr->span, "a block for 'map'", block);
      return false;
    }
    source.stages.push_back({block, expr->span});
  }
  return true;
}

bool Elaborator::readReaderOption(const CallArg &arg, const Reader &reader, SourceInfo &info) {
  auto option = llvm::find_if(reader.options,
                              [&](const ReaderOption &each) { return each.name == arg.name; });
  if (option == reader.options.end()) {
    Diagnostic &error =
        emit.error(DiagCode::PD0105, arg.nameSpan,
                   absl::StrCat("'io.", toAbsl(reader.name), "' has no argument '", arg.name, "'"));
    std::vector<std::string> names(std::begin(sourceArguments), std::end(sourceArguments));
    for (const ReaderOption &each : reader.options)
      names.emplace_back(each.name);
    error.withNote(absl::StrCat("its arguments are ", absl::StrJoin(names, ", ")));
    std::string near(ourArgumentName(arg.name));
    if (!llvm::is_contained(names, near))
      near = findNearest(arg.name, names);
    if (!near.empty())
      error.withHint(absl::StrCat("did you mean '", near, "'?"));
    return false;
  }
  Operand value = evalOperand(*arg.value);
  if (value.value.isPoison())
    return false;
  auto converted = optionOf(value.value);
  if (!converted || !option->accepts(*converted)) {
    typeError(value.span, absl::StrCat(toAbsl(option->expected), " for '", arg.name, "'"),
              value.value);
    return false;
  }
  info.options.push_back({arg.name, *std::move(converted)});
  return true;
}

bool Elaborator::readSourceArg(const CallArg &arg, const Reader &reader, Source &source) {
  SourceInfo &info = source.info;
  auto take = [](std::optional<int64_t> number, int64_t &to) {
    to = number.value_or(to);
    return number.has_value();
  };
  if (arg.name.empty())
    return readFileArg(arg, reader, source);
  if (arg.name == "batch")
    return take(sourceNumber(arg, 1, "a batch"), info.batch);
  if (arg.name == "skip")
    return take(sourceNumber(arg, 0, "a number"), info.skip);
  if (arg.name == "limit")
    return take(sourceNumber(arg, 1, "a number"), info.limit);
  if (arg.name == "repeat")
    return take(sourceNumber(arg, 1, "a number of times"), info.repeat);
  if (arg.name == "shuffle")
    return readShuffle(arg, info);
  if (arg.name == "from" || arg.name == "to")
    return readShare(arg, info);
  if (arg.name == "map")
    return readStages(arg, source);
  if (arg.name != "seed")
    return readReaderOption(arg, reader, info);
  Operand value = evalOperand(*arg.value);
  return !value.value.isPoison() && take(constantInt(value, "'seed'"), info.seed);
}

bool Elaborator::readSourceArgs(const CallExpr &call, const Reader &reader, Source &source) {
  bool isGood = true;
  for (const CallArg &arg : call.args)
    isGood &= readSourceArg(arg, reader, source);
  if (isGood && source.info.from >= source.info.to) {
    emit.error(DiagCode::PD0105, call.span,
               absl::StrCat("expected 'from' below 'to', found ", source.info.from, " and ",
                            source.info.to));
    return false;
  }
  if (isGood && source.info.files.empty()) {
    emit.error(DiagCode::PD0105, call.span, "expected the name of a file, found none");
    return false;
  }
  return isGood;
}

//===- data ----------------------------------------------------------------===//

/// "io.csv, io.idx and io.npy".
static std::string listReaders() {
  std::string list;
  for (const Reader &reader : allReaders()) {
    const char *joint = &reader == &allReaders().back() ? " and " : ", ";
    absl::StrAppend(&list, list.empty() ? "" : joint, "io.", toAbsl(reader.name));
  }
  return list;
}

void Elaborator::execData(const DeclStmt &stmt) {
  const Decl &decl = stmt.decl();
  frame_->names[&decl] = Poison();
  if (frame_->block) {
    emit.error(DiagCode::PD0048, stmt.span, "expected 'data' only in the script itself");
    return;
  }
  auto *call = dynAs<CallExpr>(stmt.init.get());
  auto *callee = call ? dynAs<MemberExpr>(call->callee.get()) : nullptr;
  if (!callee || !callee->builtin.starts_with("io.")) {
    emit.error(DiagCode::PD0117, stmt.init->span, "expected a reader of files after 'data name ='")
        .withHint(absl::StrCat("the readers are ", listReaders()));
    return;
  }
  auto source = std::make_unique<Source>();
  SourceInfo &info = source->info;
  info.name = decl.name;
  info.reader = callee->member;
  if (!readSourceArgs(*call, **findReader(info), *source))
    return;
  absl::StatusOr<SourceHeader> header = probeSource(info, options_.data);
  if (!header.ok()) {
    emit.error(DiagCode::PD0117, call->span, std::string(header.status().message()));
    return;
  }
  createSource(stmt, std::move(source), *header);
}

void Elaborator::createSource(const DeclStmt &stmt, std::unique_ptr<Source> source,
                              const SourceHeader &header) {
  const SourceInfo &info = source->info;
  OpBuilder::InsertionGuard guard(emit.b);
  emit.b.setInsertionPoint(programOp_);
  SmallVector<Attribute> fields;
  for (const FieldInfo &field : header.fields)
    fields.push_back(
        TypeAttr::get(RankedTensorType::get(field.shape, emit.elementOf(field.dtype))));
  source->symbol = info.name;
  for (int i = 2; llvm::any_of(sources_, [&](auto &s) { return s->symbol == source->symbol; }); ++i)
    source->symbol = absl::StrCat(info.name, "_", i);
  SmallVector<StringRef> files(info.files.begin(), info.files.end());
  auto op = SourceOp::create(emit.b, emit.loc(stmt.span), source->symbol, info.reader,
                             emit.b.getStrArrayAttr(files), info.batch, info.shuffle, info.window,
                             info.seed, info.skip, info.limit, llvm::APFloat(info.from),
                             llvm::APFloat(info.to), info.repeat, DictionaryAttr(),
                             emit.b.getArrayAttr(fields));
  SmallVector<NamedAttribute> options;
  for (const SourceOption &option : info.options)
    options.push_back(emit.b.getNamedAttr(option.name, attributeOf(emit.b, option.value)));
  if (!options.empty())
    op.setOptionsAttr(emit.b.getDictionaryAttr(options));
  frame_->names[&stmt.decl()] = static_cast<const Source *>(source.get());
  sources_.push_back(std::move(source));
}

//===- Use -----------------------------------------------------------------===//

/// Passes a batch through the blocks of `map`, where the loop reads it.
Datum Elaborator::applyStages(const Source &source, Datum batch) {
  for (const Operand &stage : source.stages) {
    const BlockPtr &block = *stage.value.get<BlockPtr>();
    std::vector<Operand> values;
    if (auto *fields = batch.get<SequencePtr>())
      for (const Datum &field : (*fields)->elements)
        values.push_back({field, stage.span});
    else
      values.push_back({batch, stage.span});
    size_t wanted = llvm::count_if(block->block->args, [&](const auto &arg) {
      return !block->bound.contains(&arg->decl) && !(arg->type && arg->type->isCompileTime());
    });
    if (wanted != values.size()) {
      emit.error(DiagCode::PD0105, stage.span,
                 absl::StrCat("the block '", block->block->decl.name, "' takes ", wanted,
                              wanted == 1 ? " tensor" : " tensors", ", an example of '",
                              source.info.name, "' has ", values.size()))
          .withSecondary(block->block->decl.span, "declared here");
      return Poison();
    }
    BoundArgs args = block->bound;
    auto value = values.begin();
    for (const auto &arg : block->block->args)
      if (!args.contains(&arg->decl) && !(arg->type && arg->type->isCompileTime()))
        args[&arg->decl] = *value++;
    batch = applyBound(block, std::move(args), nullptr, stage.span);
    if (batch.is<Nothing>()) {
      emit.error(DiagCode::PD0125, stage.span,
                 absl::StrCat("the block '", block->block->decl.name,
                              "' gives nothing; a stage of data gives the batch that the loop "
                              "reads"));
      return Poison();
    }
    if (batch.isPoison())
      return batch;
  }
  return batch;
}

Value Elaborator::sourceSize(const Source &source, Span span) {
  auto type = RankedTensorType::get({}, emit.b.getI64Type());
  return SourceSizeOp::create(emit.b, emit.loc(span), type,
                              SymbolRefAttr::get(emit.b.getContext(), source.symbol));
}

/// The rounds of a loop: each repetition ends with a batch that may be smaller.
Datum Elaborator::sourceBatches(const Source &source, Span span) {
  auto compute = [&](BinaryOp op, const Datum &x, int64_t y) {
    return binary(op, {x, span}, {y, span}, span);
  };
  const SourceInfo &info = source.info;
  Datum size = sourceSize(source, span);
  if (info.repeat > 1)
    size = compute(BinaryOp::FloorDiv, size, info.repeat);
  Datum batches =
      compute(BinaryOp::FloorDiv, compute(BinaryOp::Add, size, info.batch - 1), info.batch);
  return info.repeat > 1 ? compute(BinaryOp::Mul, batches, info.repeat) : batches;
}

} // namespace pdg
