// What people write who come from other languages and libraries: tables of theirs and ours.
// SPDX-License-Identifier: Apache-2.0
#include "frontend/foreign.h"
#include "frontend/names.h"

#include <algorithm>
#include <iterator>

namespace pdg {

namespace {

struct Pair {
  std::string_view theirs;
  const char *ours;
};

template <size_t N> const char *find(const Pair (&table)[N], std::string_view word) {
  auto found = std::find_if(std::begin(table), std::end(table),
                            [&](const Pair &pair) { return pair.theirs == word; });
  return found == std::end(table) ? nullptr : found->ours;
}

constexpr const char *BuiltInTensors =
    "tensors and their functions are part of the language: zeros([2, 3]), exp(x), sum(x, axis: 0)";
constexpr const char *NoEmptyValue =
    "there is no empty value; leave the argument out, or give it a default";
constexpr const char *Reshape = "write reshape(x, [2, -1])";
constexpr const char *Product = "the product of matrices is written matmul(a, b)";
constexpr const char *Cut = "a value that is not differentiated is written stop_gradient(x)";
constexpr const char *CrossEntropy =
    "a loss is a function: mean(nn.cross_entropy(logits, labels)), of logits";
constexpr const char *BinaryLoss =
    "a loss is a function: mean(nn.binary_cross_entropy(logits, targets)), of logits";
constexpr const char *BatchNorm =
    "write use norm = nn.batch_norm(); the number of channels is that of its argument";
constexpr const char *Chain =
    "use layers = [nn.dense(units: 8), nn.dense(units: 3)], and a loop applies them";
constexpr const char *Recurrent =
    "a recurrent layer is a block applied in a loop: for t in 0..T { h = cell(x[:, t], h) }";

constexpr const char *Clipping =
    "gradients are changed behind 'via': minimize loss via optim.clip_global_norm(1.0) with ...";
constexpr const char *Schedule = "a schedule gives the rate of a step: with optim.sgd(lr: "
                                 "optim.step_decay(step, 0.1, every: 9))";

constexpr Pair Names[] = {
    {"range", "a range is written 0..n, or 1..=n with its upper end"},
    {"xrange", "a range is written 0..n, or 1..=n with its upper end"},
    {"enumerate", "a loop counts by itself: for i, x in list { }"},
    {"zip", "index both lists: for i in 0..len(a) { ... a[i] ... b[i] ... }"},
    {"None", NoEmptyValue},
    {"null", NoEmptyValue},
    {"nil", NoEmptyValue},
    {"self", "a block names its variables directly: W, not self.W"},
    {"this", "a block names its variables directly: W, not this.W"},
    {"np", BuiltInTensors},
    {"numpy", BuiltInTensors},
    {"torch", BuiltInTensors},
    {"tf", BuiltInTensors},
    {"jnp", BuiltInTensors},
    {"jax", BuiltInTensors},
    {"math", BuiltInTensors},
    {"int", "a cast is written with an element type: i64(x)"},
    {"long", "a cast is written with an element type: i64(x)"},
    {"float", "a cast is written with an element type: f32(x)"},
    {"double", "a cast is written with an element type: f64(x)"},
    {"str", "a value becomes text where it is printed: print(\"{x}\")"},
    {"format", "values stand in braces in a text: print(\"{x:.4}\")"},
    {"list", "a list is written [a, b, c]"},
    {"tuple", "a tuple is written (a, b)"},
    {"dict", "there are no dictionaries; use names, a tuple or a list"},
    {"lambda", "a function is a block with a name: block f(x) { return x * 2 }"},
    {"pow", "a power is written x ** n"},
    {"mod", "the remainder is written x % n"},
    {"fmod", "the remainder is written x % n"},
    {"dot", Product},
    {"mm", Product},
    {"bmm", Product},
    {"array", "a tensor is written tensor([1, 2, 3])"},
    {"asarray", "a tensor is written tensor([1, 2, 3])"},
    {"rand", "random numbers are uniform([2, 3]) and normal([2, 3])"},
    {"randn", "random numbers are uniform([2, 3]) and normal([2, 3])"},
    {"random", "random numbers are uniform([2, 3]) and normal([2, 3])"},
    {"view", Reshape},
    {"flatten", Reshape},
    {"squeeze", Reshape},
    {"unsqueeze", Reshape},
    {"clamp", "write clip(x, low, high)"},
    {"cat", "write concat([a, b], axis: 0)"},
    {"concatenate", "write concat([a, b], axis: 0)"},
    {"permute", "write transpose(x, [1, 0])"},
    {"power", "a power is written x ** n"},
    {"detach", Cut},
    {"no_grad", Cut},
    {"backward", "gradients are asked for: grad(loss, [W, b]), or minimize loss with optim.sgd()"},
    {"Linear", "a dense layer is an instance: use layer = nn.dense(units: 10)"},
    {"Dense", "a dense layer is an instance: use layer = nn.dense(units: 10)"},
    {"printf", "write print(\"x is {x}\")"},
    {"println", "write print(\"x is {x}\")"},
    {"MSELoss", "a loss is a function: nn.mse(prediction, target)"},
    {"mse_loss", "a loss is a function: nn.mse(prediction, target)"},
    {"L1Loss", "a loss is a function: nn.mae(prediction, target)"},
    {"l1_loss", "a loss is a function: nn.mae(prediction, target)"},
    {"CrossEntropyLoss", CrossEntropy},
    {"cross_entropy_loss", CrossEntropy},
    {"nll_loss", CrossEntropy},
    {"NLLLoss", CrossEntropy},
    {"BCELoss", BinaryLoss},
    {"BCEWithLogitsLoss", BinaryLoss},
    {"BatchNorm1d", BatchNorm},
    {"BatchNorm2d", BatchNorm},
    {"Sequential", Chain},
    {"sequential", Chain},
    {"ModuleList", "a list of instances: use layers = [nn.dense(units: 8) for i in 0..3]"},
    {"Parameter", "a variable that is trained: param W: f32[2, 3] = nn.glorot()"},
    {"RNN", Recurrent},
    {"LSTM", Recurrent},
    {"GRU", Recurrent},
    {"functional", "functions of layers and losses stand in nn itself: nn.gelu(x)"},
    {"Module",
     "a model is a block that owns instances: block net(x) { use a = nn.dense(units: 3) }"},
    {"float32", "the type is f32"},
    {"float64", "the type is f64"},
    {"int32", "the type is i32"},
    {"int64", "the type is i64"},
    {"uint8", "the type is u8"},
    {"manual_seed", "the seed belongs to the run: pdc run --seed 3"},
    {"masked_fill", "write where(condition, value, x)"},
    {"Flatten", Reshape},
    {"init", "first values are blocks of nn: nn.dense(units: 8, weights: nn.he)"},
    {"clip_grad_norm", Clipping},
    {"clip_grad_norm_", Clipping},
    {"lr_scheduler", Schedule},
    {"StepLR", Schedule},
    {"step_lr", Schedule},
    {"CosineAnnealingLR",
     "a schedule gives the rate of a step: optim.cosine_decay(step, 0.1, 1000)"},
    {"ExponentialLR",
     "a schedule gives the rate of a step: optim.exponential_decay(step, 0.1, 1000)"},
    {"zero_grad", "gradients are values and never add up by themselves"},
    {"inf", "infinity is written 1 / f32(0)"},
    {"nan", "NaN is written f32(0) / 0"},
    {"pi", "write 3.141592653589793"},
    {"quit", "a session ends with :quit"},
    {"help", "in a session :help lists the commands; the manual is 'pdc doc NAME'"},
    {"exit", "a run stops where an assertion fails: assert c, \"why\"; a session ends with :quit"},
    {"raise", "a run stops where an assertion fails: assert c, \"why\""},
    {"pass", "an empty body is written { }"},
};

constexpr Pair Members[] = {
    {"T", "write transpose(x)"},
    {"mT", "write transpose(x, ...) with the order of all axes"},
    {"ndim", "write rank(x)"},
    {"numpy", "values leave a program by 'print' and 'eval'"},
    {"item", "values leave a program by 'print' and 'eval'"},
    {"tolist", "values leave a program by 'print' and 'eval'"},
    {"numel", "write size(x)"},
    {"length", "write size(x, 0)"},
    {"backward", "gradients are asked for: grad(loss, [W, b]), or minimize loss with optim.sgd()"},
    {"grad", "gradients are asked for: let g = grad(loss, W)"},
    {"detach", Cut},
    {"astype", "a cast is written with an element type: f32(x)"},
    {"to", "a cast is written with an element type: f32(x)"},
    {"float", "a cast is written with an element type: f32(x)"},
    {"double", "a cast is written with an element type: f64(x)"},
    {"long", "a cast is written with an element type: i64(x)"},
    {"int", "a cast is written with an element type: i64(x)"},
    {"view", Reshape},
    {"flatten", Reshape},
    {"squeeze", Reshape},
    {"unsqueeze", Reshape},
    {"permute", "write transpose(x, [1, 0])"},
    {"dot", Product},
    {"mm", Product},
    {"train", "whether a model is trained is an argument of it: net(x, training: false)"},
    {"parameters", "an instance stands for its parameters: minimize loss over net with ..."},
    {"zero_grad", "gradients are values, there is nothing to reset"},
    {"state_dict", "'pdc run --save FILE' writes all variables, --load reads them"},
    {"forward", "an instance is applied itself: net(x)"},
    {"weight", "the weights of a layer of the library are W"},
    {"bias", "the bias of a layer of the library is b"},
    {"append", "a list does not change; make a new one: [f(x) for x in list]"},
};

constexpr Pair Modules[] = {
    {"numpy", BuiltInTensors},
    {"torch", BuiltInTensors},
    {"tensorflow", BuiltInTensors},
    {"jax", BuiltInTensors},
    {"keras", "layers are in the module nn, optimizers in optim: import nn, optim"},
    {"math", BuiltInTensors},
    {"random", "random numbers are uniform([2, 3]) and normal([2, 3])"},
};

constexpr Pair Arguments[] = {
    {"dim", "axis"},
    {"dims", "axis"},
    {"axes", "axis"},
    {"keepdim", "keep"},
    {"keepdims", "keep"},
    {"dtype", "type"},
    {"weight_decay", "decay"},
    {"std", "deviation"},
    {"stddev", "deviation"},
    {"learning_rate", "lr"},
    {"rate", "lr"},
    {"p", "rate"},
    {"batch_size", "batch"},
    {"out_features", "units"},
    {"kernel_size", "window"},
    {"out_channels", "channels"},
};

/// Arguments that a block without them has elsewhere.
constexpr Pair MissingArguments[] = {
    {"weight_decay", "weight decay is that of optim.adamw(decay: 0.01)"},
    {"momentum", "momentum is an optimizer: optim.momentum(lr: 0.1, beta: 0.9)"},
    {"bias", "a dense layer without bias is nn.linear(units: 8)"},
};

constexpr Pair Surplus[] = {
    {"arange", "it counts from 0; from a to b write a + arange(b - a)"},
    {"log", "a logarithm to another base is log(x) / log(base)"},
    {"round", "it rounds to whole numbers; to two digits write round(x * 100) / 100"},
};

constexpr Pair Keywords[] = {
    {"def", "block f(x) { ... }"},
    {"fn", "block f(x) { ... }"},
    {"func", "block f(x) { ... }"},
    {"function", "block f(x) { ... }"},
    {"lambda", "a block with a name: block f(x) { return x * 2 }"},
    {"class", "block name(...) { }"},
    {"struct", "block name(...) { }"},
    {"from", "import name"},
    {"auto", "let x = ..."},
    {"mut", "var x = ..."},
    {"int", "the type behind the name: let n: i64 = 3"},
    {"float", "the type behind the name: let x: f32 = 3"},
    {"double", "the type behind the name: let x: f64 = 3"},
    {"elif", "else if c { }"},
    {"switch", "if a { } else if b { }"},
    {"match", "if a { } else if b { }"},
    {"try", "assert c, \"why\", which stops the run"},
    {"del", "nothing: values end with their scope"},
    {"global", "a 'state', which any block may assign"},
    {"yield", "return"},
};

} // namespace

std::string hintForForeignName(std::string_view name) {
  const char *hint = find(Names, name);
  return hint ? hint : "";
}

std::string hintForForeignMember(std::string_view member) {
  const char *hint = find(Members, member);
  return hint ? hint : "";
}

std::string hintForForeignModule(std::string_view name) {
  const char *hint = find(Modules, name);
  return hint ? hint : "";
}

std::string_view ourArgumentName(std::string_view name) {
  const char *ours = find(Arguments, name);
  return ours ? ours : "";
}

std::string suggestArgument(std::string_view name, const std::vector<std::string> &names) {
  std::string likely(ourArgumentName(name));
  if (std::find(names.begin(), names.end(), likely) == names.end())
    likely = findNearest(name, names);
  if (!likely.empty())
    return "did you mean '" + likely + "'?";
  const char *hint = find(MissingArguments, name);
  return hint ? hint : "";
}

std::string hintForSurplusArgument(std::string_view function) {
  const char *hint = find(Surplus, function);
  return hint ? hint : "";
}

const char *hintForForeignKeyword(std::string_view word) { return find(Keywords, word); }

} // namespace pdg
