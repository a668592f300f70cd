// Makes random scripts from parts, and runs them as `pdc run` does.
// SPDX-License-Identifier: Apache-2.0
#include "test/run/cluster_programs.h"

#include "runtime/base/mix.h"
#include "runtime/checkpoint/npz.h"
#include "tools/run_cluster.h"

#include <absl/strings/str_cat.h>

#include <sstream>

namespace pdg {

namespace {

/// Draws choices from a seed.
class Draw {
public:
  explicit Draw(uint64_t seed) : seed_(seed) {}

  int64_t below(int64_t bound) {
    return static_cast<int64_t>(drawBelow(seed_, count_++, static_cast<uint64_t>(bound)));
  }
  bool coin() { return below(2) == 1; }
  std::string of(std::initializer_list<const char *> choices) {
    return choices.begin()[below(static_cast<int64_t>(choices.size()))];
  }

private:
  uint64_t seed_, count_ = 0;
};

/// Writes a script line by line.
class ScriptMaker {
public:
  explicit ScriptMaker(uint64_t seed) : draw(seed) {}

  std::string make(const std::string &data) {
    line("import io, nn, optim");
    line(absl::StrCat("data d = io.npz(\"", data,
                      "\", fields: [\"x\", \"label\"], batch: ", draw.of({"32", "64", "16", "20"}),
                      draw.coin() ? ", shuffle: true" : "", ")"));
    ownOptimizer();
    layer();
    model();
    line("use net = model()");
    training();
    evaluation();
    line("eval net.output.W, net.first.a.b");
    return text.str();
  }

private:
  void line(const std::string &content) {
    text << std::string(4 * static_cast<size_t>(depth), ' ') << content << '\n';
  }
  void open(const std::string &content) {
    line(content + " {");
    ++depth;
  }
  void close() {
    --depth;
    line("}");
  }

  void ownOptimizer() {
    open("block lion(p: param, g, lr: float = 0.01)");
    line("state m = zeros_like(p)");
    line("p = p - cast(lr, dtype(p)) * sign(0.9 * m + 0.1 * g)");
    line("m = 0.99 * m + 0.01 * g");
    close();
  }

  void layer() {
    open("block layer(x: f32[N, I]) -> f32[N, 5]");
    line("use a = nn.dense(units: 5)");
    int64_t norm = draw.below(4);
    if (norm == 0)
      line("use norm = nn.batch_norm()");
    if (norm == 1)
      line("use norm = nn.layer_norm()");
    line("let h = " + draw.of({"nn.relu", "tanh", "nn.sigmoid"}) +
         (norm < 2 ? "(norm(a(x)))" : "(a(x))"));
    if (draw.coin())
      line("if mean(h) > 0.4 { print(\"    large {mean(h)}\") }");
    line(draw.coin() ? "return h" : "return nn.dropout(h, rate: 0.25)");
    close();
  }

  void model() {
    open("block model(x: f32[N, I]) -> f32[N, 3]");
    line("use first = layer()");
    line("use shared = layer()");
    line("use output = nn.dense(units: 3)");
    line("var h = first(x)");
    if (draw.coin())
      line("for i in 0.." + draw.of({"2", "3"}) + " { h = shared(h) }");
    else
      line("h = shared(h) + shared(h * 0.5)");
    if (draw.coin())
      line("h = if sum(h) > 2 { h * 0.5 } else { h + 0.25 }");
    if (draw.coin())
      line("h = h - " +
           draw.of({"mean(h, axis: 0, keep: true)", "max(h, axis: 1, keep: true)", "mean(h)"}));
    line("return output(h)");
    close();
  }

  std::string optimizer() {
    return draw.of({"optim.sgd(lr: 0.1)", "optim.momentum(lr: 0.05)", "optim.adam(lr: 1e-2)",
                    "lion()", "optim.rmsprop(lr: 1e-2)",
                    "optim.sgd(lr: optim.step_decay(epoch, 0.1, 1))"});
  }

  void update() {
    switch (draw.below(4)) {
    case 0:
      line("minimize loss with " + optimizer());
      return;
    case 1:
      line("minimize loss over net.first with " + optimizer());
      line("let other = mean(net(x) ** 2) + " + draw.of({"0.0", "sum(net.output.W ** 2)"}));
      line("minimize other over net.output with " + optimizer());
      return;
    case 2:
      line("let gradients = grad(loss, [net.first.a.W, net.output.W])");
      line("let norm = optim.global_norm(gradients)");
      line("if norm > 0.3 { print(\"    norm {norm}\") }");
      line("minimize loss with " + optimizer());
      return;
    default:
      open("for k in 0..2");
      line("let again = mean(nn.cross_entropy(net(x * 0.5), label)) + f32(k)");
      line("minimize again with " + optimizer());
      close();
    }
  }

  void training() {
    line("var seen = 0");
    open("for epoch in 0..2");
    line("var total = 0.0");
    open("for step, (x, label) in d");
    line("let loss = " + draw.of({"mean(nn.cross_entropy(net(x), label))",
                                  "sum(nn.cross_entropy(net(x), label)) / 32",
                                  "mean((net(x)[:, 0] - x[:, 1]) ** 2)"}));
    bool isGuarded = draw.below(4) == 0;
    if (isGuarded)
      open("if loss > " + draw.of({"0.2", "1.0"}) + (draw.coin() ? "" : " or step % 2 == 0"));
    update();
    if (isGuarded)
      close();
    line("total = total + loss * f32(size(x, 0))");
    line("seen = seen + count(label == " + draw.of({"0", "argmax(net(x), axis: 1)"}) + ")");
    if (draw.coin())
      line("if step % 2 == 0 { print(\"{epoch} {step} {loss} {max(x)}\") }");
    if (draw.below(3) == 0)
      line("if " + draw.of({"step == 2", "loss < 0.5", "max(x) > 2.5"}) + " { break }");
    close();
    line("print(\"{epoch} {total / d.size} {seen}\")");
    close();
  }

  void evaluation() {
    if (draw.coin()) {
      line("var scale = 1.0");
      line("while sum(net.output.W ** 2) * scale > 1e-3 { scale = scale * 0.5 }");
      line("print(\"{scale}\")");
    }
    line("var correct = 0");
    open("for (x, label) in d");
    line("correct = correct + count(argmax(net(x), axis: 1) == label)");
    close();
    line("print(\"{correct}\")");
  }

  Draw draw;
  std::ostringstream text;
  int depth = 0;
};

/// The elements of a tensor; of NaNs only that they are some.
std::string bytesOf(const HostTensor &tensor) {
  std::string bytes = tensor.typeString() + ":";
  for (int64_t i = 0; i < tensor.numElements(); ++i)
    if (tensor.dtype() == DType::F32 && tensor.data<float>()[i] != tensor.data<float>()[i])
      bytes += "nan.";
    else
      bytes.append(reinterpret_cast<const char *>(tensor.bytes()) +
                       static_cast<size_t>(i) * sizeOf(tensor.dtype()),
                   sizeOf(tensor.dtype()));
  return bytes;
}

void keep(ClusterOutcome &outcome, const std::vector<TensorRef> &tensors) {
  for (const TensorRef &ref : tensors)
    outcome.values.emplace_back(ref.name, bytesOf(*ref.tensor));
}

ExecutionContext::Sink sinkInto(ClusterOutcome &outcome, const std::string &label) {
  return [&outcome, label](std::string_view text) {
    outcome.lines.push_back(label + std::string(text));
    return absl::OkStatus();
  };
}

std::string errorOf(const RunError &error) {
  return absl::StrCat(error.code, " ", error.location, " ", error.message);
}

ClusterOutcome runPlain(Compilation &compilation, const RunArguments &arguments,
                        const RunOptions &options) {
  ClusterOutcome outcome;
  std::optional<Executable> program;
  if (compilation.split(arguments.replicas))
    program = makeExecutable(compilation, arguments);
  if (!program)
    return {.error = "cannot be compiled"};
  auto context = ExecutionContext::create(program->info, options).value();
  context->setSink(sinkInto(outcome, ""));
  if (!program->run(*context))
    outcome.error = errorOf(context->error());
  keep(outcome, context->fetchedValues());
  keep(outcome, context->namedVariables());
  return outcome;
}

ClusterOutcome runCluster(Compilation &compilation, const RunArguments &arguments,
                          const RunOptions &options) {
  ClusterOutcome outcome;
  std::optional<ClusterExecutable> program = makeClusterExecutable(compilation, arguments);
  if (!program)
    return {.error = "cannot be cut"};
  auto cluster = makeLocalCluster(*program, arguments, options);
  if (!cluster.ok())
    return {.error = cluster.status().ToString()};
  for (LocalProcess &process : (*cluster)->processes())
    process.context->setSink(
        sinkInto(outcome, process.peer == Peer{} ? "" : nameOf(process.peer) + ": "));
  if (ExecutionContext *stopped = (*cluster)->run([] { return absl::OkStatus(); }))
    outcome.error = errorOf(stopped->error());
  keep(outcome, (*cluster)->processes()[0].context->fetchedValues());
  auto variables = WholeVariables::create((*cluster)->owners());
  if (!variables.ok())
    return {.error = variables.status().ToString()};
  keep(outcome, orderedVariables(*variables, *program));
  return outcome;
}

} // namespace

std::string makeClusterScript(uint64_t seed, const std::string &data) {
  return ScriptMaker(seed).make(data);
}

void writeClusterData(const std::string &path) {
  constexpr int64_t n = 70, width = 4;
  std::vector<float> x(n * width);
  std::vector<int64_t> label(n);
  for (uint64_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(drawBelow(1, i, 6000)) / 1000.f - 3.f;
  for (uint64_t i = 0; i < label.size(); ++i)
    label[i] = static_cast<int64_t>(drawBelow(2, i, 3));
  HostTensor xs = HostTensor::fromValues<float>({n, width}, x).value();
  HostTensor labels = HostTensor::fromValues<int64_t>({n}, label).value();
  std::vector<TensorRef> refs{{"x", &xs}, {"label", &labels}};
  (void)writeNpz(path, refs);
}

std::string ClusterOutcome::differenceTo(const ClusterOutcome &other) const {
  if (error != other.error)
    return absl::StrCat("error '", error, "' and '", other.error, "'");
  for (size_t i = 0; i < std::min(lines.size(), other.lines.size()); ++i)
    if (lines[i] != other.lines[i])
      return absl::StrCat("line '", lines[i], "' and '", other.lines[i], "'");
  if (lines.size() != other.lines.size())
    return absl::StrCat(lines.size(), " and ", other.lines.size(), " lines");
  for (size_t i = 0; i < std::min(values.size(), other.values.size()); ++i)
    if (values[i] != other.values[i])
      return absl::StrCat("value ", values[i].first, " and ", other.values[i].first);
  return values.size() == other.values.size() ? "" : "more values";
}

ClusterOutcome runClusterCase(const ClusterCase &c) {
  RunArguments arguments;
  arguments.program.file = c.file;
  arguments.interpret = !c.isNative;
  arguments.seed = c.seed;
  arguments.quiet = arguments.isInProcess = true;
  bool isCluster = c.servers > 0;
  arguments.cluster.trainers = c.trainers;
  arguments.cluster.servers = c.servers;
  arguments.replicas = isCluster ? 1 : c.trainers;
  Compilation compilation(arguments.program);
  ClusterOutcome outcome;
  if (!compilation.load() || !compilation.elaborate() || !compilation.simplify()) {
    outcome.error = "is no program";
  } else {
    RunOptions options;
    options.paths = compilation.paths();
    options.seed = c.seed;
    options.threads = 1;
    options.isQuiet = true;
    outcome = isCluster ? runCluster(compilation, arguments, options)
                        : runPlain(compilation, arguments, options);
  }
  // What the compiler says belongs to the failure.
  for (const Diagnostic &message : compilation.diagnostics().sorted())
    if (message.severity == Severity::Error)
      absl::StrAppend(&outcome.error, "; ", message.message);
  return outcome;
}

} // namespace pdg
