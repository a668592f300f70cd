// What the tests of the front end share: sample scripts, and short ways to parse and resolve a
// text. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/ast_print.h"
#include "frontend/parse.h"
#include "frontend/resolve.h"
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace pdg::test {

/// A text on its way through the front end, with all that must outlive its tree.
struct Attempt {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  std::unique_ptr<FileAst> file;
  std::unique_ptr<Program> program;

  /// Every message as "PD0021 3:7", by place.
  std::string codes() const {
    std::ostringstream out;
    const char *separator = "";
    for (const Diagnostic &each : diagnostics.sorted()) {
      out << separator << codeName(each.code);
      if (each.span.isValid()) {
        LineColumn place = sources.lineColumn(each.span);
        out << " " << place.line << ":" << place.column;
      }
      separator = ", ";
    }
    return out.str();
  }
};

inline std::unique_ptr<Attempt> parse(const std::string &text) {
  auto run = std::make_unique<Attempt>();
  FileId file = run->sources.add("test.pdg", text);
  run->file = parseFile(run->sources, file, run->diagnostics);
  return run;
}

/// Parses and prints, or gives the messages if there are any.
inline std::string reprint(const std::string &text) {
  auto run = parse(text);
  if (!run->diagnostics.empty())
    return run->diagnostics.renderText();
  return printAst(*run->file);
}

inline LoadOptions options() {
  LoadOptions result;
  result.stdlibFolder = "/library";
  result.builtins.functions = {"reshape", "mean", "count",  "argmax", "exp",
                               "relu",    "sum",  "zeros",  "matmul", "zeros_like",
                               "grad",    "sqrt", "io.idx", "io.csv"};
  result.builtins.types = {"f32", "f64", "i32", "i64", "u8", "bool"};
  return result;
}

/// A library as small as the samples allow, found by `options()`.
inline void addLibrary(SourceManager &sources) {
  sources.addOverlay("/library/nn.pdg", R"(
## A dense layer.
block dense(x: T[N, I], units: int) -> T[N, units] {
    param W: T[I, units] = glorot()
    param b: T[units] = zeros()
    return matmul(x, W) + b
}
block glorot() { return 0.1 }
block relu(x) { return x }
block cross_entropy(x: T[N, C], labels: L[N]) -> T[N] { return x[:, labels] }
)");
  sources.addOverlay("/library/optim.pdg", R"(
block adam(p: param, g, lr: float = 1e-3) {
    state m = zeros_like(p)
    m = m + g
    p = p - lr * m
}
block clip_global_norm(gradients, norm: float) { return gradients }
)");
}

inline std::unique_ptr<Attempt> load(const std::string &text, bool warnsUnused = false) {
  auto run = std::make_unique<Attempt>();
  addLibrary(run->sources);
  LoadOptions loadOptions = options();
  loadOptions.warnsUnused = warnsUnused;
  run->program = loadProgramText(run->sources, "dir/test.pdg", text, loadOptions, run->diagnostics);
  return run;
}

/// Whole scripts that use every construct of the language.
inline const std::vector<std::string> &samples() {
  static const std::vector<std::string> Samples = {R"(# Train a two-layer classifier.
import io, nn, optim

const batch = 64

block classifier(image: u8[N, 28, 28]) -> f32[N, 10] {
    use hidden = nn.dense(units: 256)
    use output = nn.dense(units: 10)
    let pixels = reshape(f32(image) / 255, [N, 784])
    return output(nn.relu(hidden(pixels)))
}

use net = classifier()

data train = io.idx("images.gz", "labels.gz",
                    batch: batch, shuffle: true, seed: 7)
data test  = io.idx("test-images.gz", "test-labels.gz", batch: 500)

for epoch in 1..=5 {
    for step, (image, label) in train {
        let loss = mean(nn.cross_entropy(net(image), label))
        minimize loss with optim.adam(lr: 1e-3)
        if step % 200 == 0 { print("epoch {epoch} step {step} loss {loss:.4}") }
    }
    var correct = 0
    for (image, label) in test { correct = correct + count(argmax(net(image), axis: 1) == label) }
    print("epoch {epoch} accuracy {correct / test.size:.4}")
}

eval [net.hidden.W, net.output.b]
)",
                                                   R"(import nn, optim
## An optimizer of one's own.
## Its state is kept per parameter.
block momentum(p: param, g, lr: float = 0.1, beta: float = 0.9) lazy {
    state v = zeros_like(p)
    v = beta * v + g
    p = p - lr * v
}
block two(x: T[N], activation: block = nn.relu, kind: type = f32, name: string = "a",) -> (T[N], f32[]) {
    return (activation(x), kind(0))
}
input x: f32[3, 784]
use layers = [nn.dense(units: 8) for i in 0..12]
use generator = nn.dense(units: 3)
@on("ps0") param W: f32[784, 2 * 5] = 0
@replicate
@shard(axis: 0)
state total: f64 = 0
var n: i64 = 27
while n != 1 and not (n < 0 or n > 1_000) max 100 {
    if n % 2 == 0 { n = n // 2 } else if n == 3 { break } else { n = 3 * n + 1; continue }
}
let y = if n > 0 { sqrt(2.0) } else { -1.5e-3 }
let (a, b) = two(x[0, :])
let [gw, [gx]] = grad(mean(a), [W, [x]])
let z = -x ** 2 ** -1 + W[0..3, ..5, 2..] * x[:, 0..=n] - x[[1, 2]]
minimize mean(z) over generator, layers[0] via optim.clip_global_norm(1.0) with momentum(lr: 0.05)
update W by gw with momentum()
assert n > 0, "n is {n} {{not}} {y:8.3} {y:.4g}\n"
print(gx)
for i, layer in layers { total = total + f64(sum(layer(x))) }
eval a + b as total, W
eval [y as other, true]
eval x, (1,), [], "text \u{1F600} \"q\""
)"};
  return Samples;
}

} // namespace pdg::test
