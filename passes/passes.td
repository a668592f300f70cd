// All passes of pdg, in the order in which the pipelines (pipelines.cpp) run them.
// SPDX-License-Identifier: Apache-2.0
#ifndef PDG_PASSES_PASSES_TD
#define PDG_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"pdg-differentiate", "::mlir::ModuleOp"> {
  let summary = "Replaces pdg.gradient by the ops that compute it";
  let description = [{
    Reverse-mode differentiation from IR to IR. Each op answers how a cotangent passes through it.
    Several cotangents of one value are added in program order of the uses. What iterations of a
    loop contribute to one value shares leaves (`LeavesOpInterface`, `PlacingOpInterface`).

    Input:
    ```mlir
    %y = pdg.mul %x, %x : tensor<f32>, tensor<f32>
    %g = pdg.gradient %y of [] %x : tensor<f32> : tensor<f32> -> tensor<f32>
    ```
    Output:
    ```mlir
    %y = pdg.mul %x, %x : tensor<f32>, tensor<f32>
    %one = pdg.constant dense<1.0> : tensor<f32>
    %a = pdg.mul %one, %x : tensor<f32>, tensor<f32>
    %b = pdg.mul %one, %x : tensor<f32>, tensor<f32>
    %g = pdg.add %a, %b : tensor<f32>, tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
  let statistics = [Statistic<"numGradients", "gradients", "Number of gradients replaced">];
}

def SimplifySizes : Pass<"pdg-simplify-sizes", "::mlir::ModuleOp"> {
  let summary = "Asks the source of a size instead of an intermediate value";
  let description = [{
    Input:
    ```mlir
    %y = pdg.exp %x : tensor<?xf32>
    %n = pdg.dim %y axis 0 : tensor<?xf32>
    ```
    Output, where %x is a field of a batch:
    ```mlir
    %y = pdg.exp %x : tensor<?xf32>
    %n = pdg.dim %x axis 0 : tensor<?xf32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def SendRows : Pass<"pdg-send-rows", "::mlir::ModuleOp"> {
  let summary = "Marks what works on few rows of a large table, so that rows travel";
  let description = [{
    A batch touches few rows of an embedding table. Reading them (an op whose indices are checked
    against axis 0 of a variable) and adding their gradients (`ScatterOpInterface`) is marked
    `pdg.whole` if the rows have less than half of the bytes of the table: pdg-split-batch then makes
    it of the whole batch, and pdg-place-variables finds that the cheapest place is where the table
    is. Indices and rows travel, both ways, instead of the table and its gradient; the update stays
    dense. Runs before pdg-split-batch; depends on the program alone, so that the bits do not depend
    on the cluster.

    Input:
    ```mlir
    %table = pdg.read <"w"> : tensor<1000x4xf32>
    %rows = pdg.gather %table, %ids : tensor<1000x4xf32>, tensor<8xi64>
    ```
    Output:
    ```mlir
    %table = pdg.read <"w"> : tensor<1000x4xf32>
    %rows = pdg.gather %table, %ids {pdg.whole} : tensor<1000x4xf32>, tensor<8xi64>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def SplitBatch : Pass<"pdg-split-batch", "::mlir::ModuleOp"> {
  let summary = "Cuts the batches of a program into slices and joins partial sums";
  let description = [{
    Each field of a batch becomes as many slices as there are replicas, and so does what is computed
    from it, as far as the sharding rules say. Variables, sizes and random values stay whole. The
    result is an ordinary graph. Runs after pdg-simplify-sizes, which asks sizes of whole fields.

    If the number of replicas divides L(batch), slices are whole leaves of the sums over a batch, so
    that the result has the bits of the input.

    Input:
    ```mlir
    pdg.for_each @train {
    ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
      %e = pdg.exp %x : tensor<?xf32>
      %s = pdg.sum %e axis 0 : tensor<?xf32>
      pdg.assign <"s">, %s : tensor<f32>
    }
    ```
    Output, with `replicas=2`:
    ```mlir
    pdg.for_each @train {
    ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
      %n = pdg.dim %x axis 0 : tensor<?xf32>
      %zero = pdg.constant dense<0> : tensor<i64>
      %half = pdg.part_begin %n part 1 of 2 leaves
      %n0 = pdg.sub %half, %zero : tensor<i64>, tensor<i64>
      %n1 = pdg.sub %n, %half : tensor<i64>, tensor<i64>
      %x0 = pdg.part %x axis 0 from %zero size %n0 : tensor<?xf32>
      %x1 = pdg.part %x axis 0 from %half size %n1 : tensor<?xf32>
      %e0 = pdg.exp %x0 : tensor<?xf32>
      %e1 = pdg.exp %x1 : tensor<?xf32>
      %s0 = pdg.sum %e0 axis 0 : tensor<?xf32>
      %s1 = pdg.sum %e1 axis 0 : tensor<?xf32>
      %s = pdg.add %s0, %s1 : tensor<f32>, tensor<f32>
      pdg.assign <"s">, %s : tensor<f32>
    }
    ```

    With several trainers the result is the program of each of them, in which it computes its share
    of the slices, a power of two, and all join or gather what they have:
    ```mlir
    %r = pdg.replica
    pdg.for_each @train {
    ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
      %n = pdg.dim %x axis 0 : tensor<?xf32>
      %begin = pdg.part_begin %n part 0 plus %r of 2 leaves
      %end = pdg.part_begin %n part 1 plus %r of 2 leaves
      %size = pdg.sub %end, %begin : tensor<i64>, tensor<i64>
      %x0 = pdg.part %x axis 0 from %begin size %size : tensor<?xf32>
      %e0 = pdg.exp %x0 : tensor<?xf32>
      %s0 = pdg.sum %e0 axis 0 : tensor<?xf32>
      %s = pdg.all_reduce %s0 sum of 2 : tensor<f32>
      pdg.assign <"s">, %s : tensor<f32>
    }
    ```
  }];
  let options = [
    Option<"replicas", "replicas", "int64_t", "0", "Number of slices; 0: one for each trainer">,
    Option<"trainers", "trainers", "int64_t", "1", "Number of processes that share the slices">];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def ShareBatches : Pass<"pdg-share-batches", "::mlir::ModuleOp"> {
  let summary = "Gives whole batches to trainers in turn";
  let description = [{
    In place of pdg-split-batch, for modes in which trainers do not keep step: trainer r runs the
    rounds r, r + T, ... of a loop over data in which a variable changes. In the others it hands on
    what it has.

    Input:
    ```mlir
    pdg.for_each @train {
    ^bb0(%step: tensor<i64>, %x: tensor<?xf32>):
      %s = pdg.sum %x axis 0 : tensor<?xf32>
      pdg.assign <"s">, %s : tensor<f32>
    }
    ```
    Output, with `trainers=2`:
    ```mlir
    %r = pdg.replica
    pdg.for_each @train {
    ^bb0(%step: tensor<i64>, %x: tensor<?xf32>):
      %two = pdg.constant dense<2> : tensor<i64>
      %turn = pdg.mod %step, %two : tensor<i64>, tensor<i64>
      %mine = pdg.eq %turn, %r : tensor<i64>, tensor<i64>
      pdg.if %mine {
        %s = pdg.sum %x axis 0 : tensor<?xf32>
        pdg.assign <"s">, %s : tensor<f32>
        pdg.yield
      } else {
        pdg.yield
      }
    }
    ```
  }];
  let options = [Option<"trainers", "trainers", "int64_t", "1", "Number of trainers">];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def InstantiateReplicas : Pass<"pdg-instantiate-replicas", "::mlir::ModuleOp"> {
  let summary = "Makes one graph of the programs of all trainers";
  let description = [{
    What depends on pdg.replica becomes as many ops as there are trainers; what they join, one op or
    a tree of ops. The interpreter can run the result: what pdg-split-batch makes of a script for
    several trainers has the bits of what it makes for one with as many slices.

    Input:
    ```mlir
    %r = pdg.replica
    %y = pdg.cast %r to f32 : tensor<i64>
    %s = pdg.all_reduce %y sum of 2 : tensor<f32>
    ```
    Output, with `trainers=2`:
    ```mlir
    %r0 = pdg.constant dense<0> : tensor<i64>
    %r1 = pdg.constant dense<1> : tensor<i64>
    %y0 = pdg.cast %r0 to f32 : tensor<i64>
    %y1 = pdg.cast %r1 to f32 : tensor<i64>
    %s = pdg.add %y0, %y1 : tensor<f32>, tensor<f32>
    ```
  }];
  let options = [Option<"trainers", "trainers", "int64_t", "1", "Number of trainers">];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def HoistReads : Pass<"pdg-hoist-reads", "::mlir::ModuleOp"> {
  let summary = "Reads a variable before a loop that does not assign it, and once";
  let description = [{
    A read leaves all loops around it in which its variable stays what it is. Reads of a variable
    that nothing assigns between are one. So what a server keeps is sent once for an evaluation,
    not with each batch.

    Input:
    ```mlir
    pdg.for_each @test {
    ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
      %w = pdg.read <"w"> : tensor<f32>
      pdg.print ["", ""] [#pdg.format<>] (%w : tensor<f32>)
    }
    ```
    Output:
    ```mlir
    %w = pdg.read <"w"> : tensor<f32>
    pdg.for_each @test {
    ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
      pdg.print ["", ""] [#pdg.format<>] (%w : tensor<f32>)
    }
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
  let statistics = [Statistic<"numHoisted", "hoisted", "Number of reads moved out of loops">];
}

def Prune : Pass<"pdg-prune", "::mlir::ModuleOp"> {
  let summary = "Removes what no effect needs, values that loops carry included";
  let description = [{
    Effects are prints, fetches, assertions, batches taken from data, and assignments of variables,
    which a checkpoint has. If nothing is saved, a variable is kept if it is a parameter, state of
    its optimizer, or read for another effect than its own update.

    Input:
    ```mlir
    %sums:2 = pdg.for_each @train carry (%zero, %zero : tensor<f32>, tensor<f32>)
        -> tensor<f32>, tensor<f32> {
    ^bb0(%i: tensor<i64>, %x: tensor<?xf32>, %a: tensor<f32>, %b: tensor<f32>):
      %s = pdg.sum %x axis 0 : tensor<?xf32>
      %e = pdg.exp %s : tensor<f32>
      %c = pdg.add %a, %s : tensor<f32>, tensor<f32>
      %d = pdg.add %b, %e : tensor<f32>, tensor<f32>
      pdg.yield %c, %d : tensor<f32>, tensor<f32>
    }
    pdg.print ["", ""] [#pdg.format<>] (%sums#0 : tensor<f32>)
    ```
    Output:
    ```mlir
    %sum = pdg.for_each @train carry (%zero : tensor<f32>) -> tensor<f32> {
    ^bb0(%i: tensor<i64>, %x: tensor<?xf32>, %a: tensor<f32>):
      %s = pdg.sum %x axis 0 : tensor<?xf32>
      %c = pdg.add %a, %s : tensor<f32>, tensor<f32>
      pdg.yield %c : tensor<f32>
    }
    pdg.print ["", ""] [#pdg.format<>] (%sum : tensor<f32>)
    ```
  }];
  let options = [
    Option<"saved", "saved", "bool", "true", "Whether somebody keeps the variables after the run">];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def PropagateShardings : Pass<"pdg-propagate-shardings", "::mlir::ModuleOp"> {
  let summary = "Moves joins to where they run least, and says what each trainer has";
  let description = [{
    A collective leaves loops that change nothing of it and goes, with what is computed from it,
    into the condition that alone needs it; one that nobody needs is removed. All trainers take the
    same branches, so they still meet. The attribute `pdg.sharding`, for readers, has a word for
    each result of an op that gives trainers different values: `slices of axis k`, `partial sum`,
    `partial extremum` or `own`.

    Input:
    ```mlir
    %p = pdg.sum %x0 axis 0 {pdg.sharding = ["partial sum"]} : tensor<?xf32>
    %s = pdg.all_reduce %p sum of 2 : tensor<f32>
    pdg.if %rarely {
      pdg.print ["", ""] [#pdg.format<>] (%s : tensor<f32>)
    } else {
    }
    ```
    Output:
    ```mlir
    %p = pdg.sum %x0 axis 0 {pdg.sharding = ["partial sum"]} : tensor<?xf32>
    pdg.if %rarely {
      %s = pdg.all_reduce %p sum of 2 : tensor<f32>
      pdg.print ["", ""] [#pdg.format<>] (%s : tensor<f32>)
    } else {
    }
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def FoldIntoConvolutions : Pass<"pdg-fold-into-convolutions", "::mlir::ModuleOp"> {
  let summary = "Adds the bias and the relu behind a convolution in the convolution";
  let description = [{
    Where nothing else uses the results in between. The bits are the same: each step rounds by
    itself in either form.

    Input:
    ```mlir
    %c = pdg.conv2d %x, %w ... : tensor<?x1x28x28xf32>, tensor<6x1x5x5xf32>
    %r = pdg.reshape %b to [6, 1, 1] : tensor<6xf32>
    %s = pdg.broadcast %r to [%n, 6, 24, 24] : tensor<6x1x1xf32>
    %a = pdg.add %c, %s : tensor<?x6x24x24xf32>, tensor<?x6x24x24xf32>
    %y = pdg.relu %a : tensor<?x6x24x24xf32>
    ```
    Output:
    ```mlir
    %y = pdg.conv2d %x, %w bias %b relu ... : tensor<?x1x28x28xf32>, tensor<6x1x5x5xf32>, tensor<6xf32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def CanonicalizeContractions : Pass<"pdg-canonicalize-contractions", "::mlir::ModuleOp"> {
  let summary = "Makes transposes explicit that matrix product kernels cannot read through";
  let description = [{
    Afterwards every operand is [batch, rows, columns] in one of the two orders.

    Input:
    ```mlir
    %c = pdg.contract "kbi,kj->bij" %x, %w : tensor<4x2x3xf32>, tensor<4x5xf32>
    ```
    Output: `kbi` has one group of rows, `bi`, so nothing changes; `bki,kj->bij` becomes
    ```mlir
    %t = pdg.transpose %x [0, 2, 1] : tensor<2x4x3xf32>
    %c = pdg.contract "bik,kj->bij" %t, %w : tensor<2x3x4xf32>, tensor<4x5xf32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def ForwardVariables : Pass<"pdg-forward-variables", "::mlir::ModuleOp"> {
  let summary = "Uses an assigned value instead of reading the variable";
  let description = [{
    Runs after pdg-differentiate, which finds variables by their reads. Assignments that are
    overwritten unread go too.

    Input:
    ```mlir
    pdg.assign <"m">, %m : tensor<f32>
    %r = pdg.read <"m"> : tensor<f32>
    %v = pdg.exp %r : tensor<f32>
    ```
    Output:
    ```mlir
    pdg.assign <"m">, %m : tensor<f32>
    %v = pdg.exp %m : tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def SinkAssigns : Pass<"pdg-sink-assigns", "::mlir::ModuleOp"> {
  let summary = "Moves assignments down, to the next op that touches the variable";
  let description = [{
    So that all statements of an optimizer can be fused.

    Input:
    ```mlir
    pdg.assign #pdg.name<"m">, %m : tensor<f32>
    %v = pdg.exp %m : tensor<f32>
    ```
    Output:
    ```mlir
    %v = pdg.exp %m : tensor<f32>
    pdg.assign #pdg.name<"m">, %m : tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def Fuse : Pass<"pdg-fuse", "::mlir::ModuleOp"> {
  let summary = "Groups element ops of equal sizes into pdg.fused";
  let description = [{
    A group is computed in one pass over memory, at the place of its last op. Cheap ops (broadcasts,
    positions) are copied into each group that uses them.

    Input:
    ```mlir
    %a = pdg.exp %x : tensor<8xf32>
    %b = pdg.neg %a : tensor<8xf32>
    ```
    Output:
    ```mlir
    %b = pdg.fused -> tensor<8xf32> {
      %0 = pdg.exp %x : tensor<8xf32>
      %1 = pdg.neg %0 : tensor<8xf32>
      pdg.yield %1 : tensor<8xf32>
    }
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
  let statistics = [Statistic<"numKernels", "kernels", "Number of fused groups">];
}

def ShardVariables : Pass<"pdg-shard-variables", "::mlir::ModuleOp"> {
  let summary = "Splits large variables over servers, where their updates are element-wise";
  let description = [{
    A variable is split, with its states, if together they are larger than one server's share of all
    variables and it has at least `min-bytes`, or if the script says so (@shard). It becomes several
    variables, named by their slices, and so do the ops of its update, if all of them pass slices
    through (sharding rules, all Parallel along the axis). Trainers send slices of gradients, and
    put together what they read. A sum along the axis, as in the norm of a gradient, is cut between
    its leaves, which are joined as its tree: the bits do not depend on the number of servers. What
    cannot be split has the reason in `pdg.why-whole`; it is an error if the script wants it split.

    The result is an ordinary graph. Runs before pdg-place-variables, which gives each slice a home.

    Input, in a cluster of two servers:
    ```mlir
    pdg.variable <"w"> : tensor<8xf32> param { ... }
    pdg.program {
      %w = pdg.read <"w"> : tensor<8xf32>
      ...
      %g = pdg.all_reduce %part sum of 2 : tensor<8xf32>
      %next = pdg.sub %w, %g : tensor<8xf32>, tensor<8xf32>
      pdg.assign <"w">, %next : tensor<8xf32>
      pdg.yield
    }
    ```
    Output:
    ```mlir
    pdg.variable <"w", slice = [0, 4]> : tensor<4xf32> param { ... }
    pdg.variable <"w", slice = [4, 8]> : tensor<4xf32> param { ... }
    pdg.program {
      %w0 = pdg.read <"w", slice = [0, 4]> : tensor<4xf32>
      %w1 = pdg.read <"w", slice = [4, 8]> : tensor<4xf32>
      %w = pdg.concat %w0, %w1 axis 0 : tensor<4xf32>, tensor<4xf32>
      ...
      %part0 = pdg.slice %part axis 0 from 0 size 4 : tensor<8xf32>
      %part1 = pdg.slice %part axis 0 from 4 size 4 : tensor<8xf32>
      %g0 = pdg.all_reduce %part0 sum of 2 : tensor<4xf32>
      %g1 = pdg.all_reduce %part1 sum of 2 : tensor<4xf32>
      %next0 = pdg.sub %w0, %g0 : tensor<4xf32>, tensor<4xf32>
      %next1 = pdg.sub %w1, %g1 : tensor<4xf32>, tensor<4xf32>
      pdg.assign <"w", slice = [0, 4]>, %next0 : tensor<4xf32>
      pdg.assign <"w", slice = [4, 8]>, %next1 : tensor<4xf32>
      pdg.yield
    }
    ```
  }];
  let options = [Option<"minBytes", "min-bytes", "int64_t", "65536",
                        "Smaller variables are not split without a hint">];
  let dependentDialects = ["::pdg::PdgDialect"];
  let statistics = [Statistic<"numSplit", "split", "Number of variables that were split">];
}

def PlaceVariables : Pass<"pdg-place-variables", "::mlir::ModuleOp"> {
  let summary = "Decides which server keeps each variable and which role runs each op";
  let description = [{
    Each `pdg.variable` gets `pdg.home`, the role that keeps it, and `pdg.why`, the reason for
    people. Each op but loops, conditions, yields and declarations gets `pdg.place`:

    * `<server, k>`: reads, assignments, and what belongs to an update;
    * `<trainer>`: parts of batches, data, what the outside sees, collective ops, the rest;
    * `<anywhere>`: what depends on constants and on counters of loops alone: each role that needs it
      computes it.

    What a loop carries, or a condition gives, has a place too: `pdg.places` of the op, one for each
    result.

    What belongs to an update is found by def-use: of the ways to divide the ops between trainers and
    servers, the one in which the fewest bytes cross, and of equal ones the one with the most on
    servers. An op can be on a server if its result is the same on all trainers and it is element-wise,
    a reduction or an addition of rows, or computes from what servers have: states and joined values. Tensors that flow between ops of
    servers keep these, and the variables that they touch, together; so do numbers that only one such
    group uses. Groups go, largest first, to the server with the least to do. Without `pdg.cluster`
    nothing changes.

    Input:
    ```mlir
    module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
      pdg.variable <"w"> : tensor<8xf32> param { ... }
      pdg.program {
        %rate = pdg.constant dense<0.1> : tensor<8xf32>
        %w = pdg.read <"w"> : tensor<8xf32>
        ...
        %g = pdg.all_reduce %part sum of 2 : tensor<8xf32>
        %step = pdg.mul %rate, %g : tensor<8xf32>, tensor<8xf32>
        %next = pdg.sub %w, %step : tensor<8xf32>, tensor<8xf32>
        pdg.assign <"w">, %next : tensor<8xf32>
        pdg.yield
      }
    }
    ```
    Output, `pdg.place` of the ops of the program:
    ```mlir
    pdg.variable <"w"> : tensor<8xf32> param { ... } {pdg.home = #pdg.role<server>, pdg.why = "..."}
    %rate = pdg.constant ...    // <anywhere>
    %w = pdg.read ...           // <server>
    %g = pdg.all_reduce ...     // <trainer>
    %step = pdg.mul ...         // <server>
    %next = pdg.sub ...         // <server>
    pdg.assign ...              // <server>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def InsertSendRecv : Pass<"pdg-insert-send-recv", "::mlir::ModuleOp"> {
  let summary = "Cuts each edge of the graph that crosses from role to role by a Send and a Recv";
  let description = [{
    Ops have places (`pdg.place`), and so have carried values and results of loops and conditions
    (`pdg.places`). A value that another role needs is sent once, right behind the op that gives it,
    and received there. Joined values (`CollectiveOpInterface`) are joined on one server. Each role
    that runs an op inside of a loop or condition has a copy of it; the copies of one have the same
    `pdg.region`. Servers do not read data: the trainers tell them whether there is another batch.
    What no effect needs has no copy. Statements are marked with the role that runs them.

    Input:
    ```mlir
    %one = pdg.constant {pdg.place = #pdg.role<anywhere>} dense<1.0> : tensor<f32>
    %w = pdg.read <"w"> : tensor<f32> {pdg.place = #pdg.role<server>}
    %g = pdg.mul %w, %one {pdg.place = #pdg.role<trainer>} : tensor<f32>, tensor<f32>
    %sum = pdg.all_reduce %g sum of 2 {pdg.place = #pdg.role<trainer>} : tensor<f32>
    %next = pdg.sub %w, %sum {pdg.place = #pdg.role<server>} : tensor<f32>, tensor<f32>
    pdg.assign <"w">, %next : tensor<f32> {pdg.place = #pdg.role<server>}
    ```
    Output, with places of ops that follow from their operands left out:
    ```mlir
    %w = pdg.read <"w"> : tensor<f32> {pdg.place = #pdg.role<server>}
    pdg.send %w, #variable : tensor<f32>
    %w1 = pdg.recv #variable to [] {pdg.place = #pdg.role<trainer>} : tensor<f32>
    %one = pdg.constant {pdg.place = #pdg.role<trainer>} dense<1.0> : tensor<f32>
    %g = pdg.mul %w1, %one : tensor<f32>, tensor<f32>
    pdg.send %g, #gradient : tensor<f32>
    %sum = pdg.accumulate #gradient sum of 2 to [] {pdg.place = #pdg.role<server>} : tensor<f32>
    %next = pdg.sub %w, %sum : tensor<f32>, tensor<f32>
    pdg.assign <"w">, %next : tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def SplitRoles : Pass<"pdg-split-roles", "::mlir::ModuleOp"> {
  let summary = "Moves what each role runs into a module of its own";
  let description = [{
    All trainers share a module, each server has its own. A variable is declared where it is used,
    a data source where it is read; `pdg.edges` are the edges of the cluster, in the same order in
    each module.

    Input:
    ```mlir
    module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>, pdg.edges = [#edge]} {
      pdg.variable <"w"> : tensor<f32> { ... } {pdg.home = #pdg.role<server>}
      pdg.program {
        %w = pdg.read <"w"> : tensor<f32> {pdg.place = #pdg.role<server>}
        pdg.send %w, #edge {pdg.place = #pdg.role<server>} : tensor<f32>
        %w1 = pdg.recv #edge to [] {pdg.place = #pdg.role<trainer>} : tensor<f32>
        pdg.yield
      }
    }
    ```
    Output, attributes left out:
    ```mlir
    module @trainer {
      pdg.program {
        %w = pdg.recv #edge to [] : tensor<f32>
        pdg.yield
      }
    }
    module @server_0 {
      pdg.variable <"w"> : tensor<f32> { ... }
      pdg.program {
        %w = pdg.read <"w"> : tensor<f32>
        pdg.send %w, #edge : tensor<f32>
        pdg.yield
      }
    }
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def RefreshReads : Pass<"pdg-refresh-reads", "::mlir::ModuleOp"> {
  let summary = "Reads variables of servers right where they are used";
  let description = [{
    For modes in which a server serves one trainer while it waits for another: what was read before
    a wait may be old, and an update made of it would undo those of others. Ops without effects move
    down to their first use, and each use of a variable gets a read of its own.

    Input:
    ```mlir
    %w = pdg.read <"w"> : tensor<f32>
    pdg.send %w, #w : tensor<f32>
    %g = pdg.accumulate #g sum of 1 to [] : tensor<f32>
    %next = pdg.sub %w, %g : tensor<f32>, tensor<f32>
    pdg.assign <"w">, %next : tensor<f32>
    ```
    Output:
    ```mlir
    %w = pdg.read <"w"> : tensor<f32>
    pdg.send %w, #w : tensor<f32>
    %g = pdg.accumulate #g sum of 1 to [] : tensor<f32>
    %now = pdg.read <"w"> : tensor<f32>
    %next = pdg.sub %now, %g : tensor<f32>, tensor<f32>
    pdg.assign <"w">, %next : tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def ScheduleTransfers : Pass<"pdg-schedule-transfers", "::mlir::ModuleOp"> {
  let summary = "Sends what is there at once, and waits for what comes as late as it can";
  let description = [{
    Works inside each block of each role. A Send moves up, behind the op that gives its value; what
    receives moves down, to the first op that needs it. So gradients leave in the order in which they
    are made, and a layer begins while the variables of the next ones are on the way. Messages of an
    edge keep their order; queues of one process stay as they are.

    Input:
    ```mlir
    %w = pdg.recv #w to [2] : tensor<2xf32>
    %v = pdg.recv #v to [2] : tensor<2xf32>
    %a = pdg.exp %w : tensor<2xf32>
    %b = pdg.exp %v : tensor<2xf32>
    pdg.send %a, #a : tensor<2xf32>
    pdg.send %b, #b : tensor<2xf32>
    ```
    Output:
    ```mlir
    %w = pdg.recv #w to [2] : tensor<2xf32>
    %a = pdg.exp %w : tensor<2xf32>
    pdg.send %a, #a : tensor<2xf32>
    %v = pdg.recv #v to [2] : tensor<2xf32>
    %b = pdg.exp %v : tensor<2xf32>
    pdg.send %b, #b : tensor<2xf32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def CoalesceTransfers : Pass<"pdg-coalesce-transfers", "::mlir::ModuleOp"> {
  let summary = "Groups small tensors that leave at the same place for the same role";
  let description = [{
    Sends with the same `pdg.message` may travel together: nothing is computed or received between
    them, so nobody waits longer if the first leaves with the last. The graph stays as it is; the
    attribute is for the transport and for the plan.

    Input:
    ```mlir
    %w = pdg.read <"w"> : tensor<2xf32>
    pdg.send %w, #w : tensor<2xf32>
    %b = pdg.read <"b"> : tensor<2xf32>
    pdg.send %b, #b : tensor<2xf32>
    ```
    Output:
    ```mlir
    %w = pdg.read <"w"> : tensor<2xf32>
    pdg.send %w, #w {pdg.message = 0 : i64} : tensor<2xf32>
    %b = pdg.read <"b"> : tensor<2xf32>
    pdg.send %b, #b {pdg.message = 0 : i64} : tensor<2xf32>
    ```
  }];
  let options = [
    Option<"small", "small", "int64_t", "16384", "The most bytes of a tensor that is grouped">,
    Option<"most", "most", "int64_t", "65536", "The most bytes of a group">];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def CheckCluster : Pass<"pdg-check-cluster", "::mlir::ModuleOp"> {
  let summary = "Proves that the roles of a cluster fit together";
  let description = [{
    Changes nothing. Refuses, with the lines of the script:

    * an edge that is sent and not received, or received and not sent; with two types; in two places;
      in another loop or case on one side than on the other;
    * a role without module, a variable that two roles have, tables of edges that differ;
    * a cycle of waits: roles that would wait for each other for ever, because of the order of what
      they send and receive, or because queues are full;
    * a role that needs more memory than `pdg.cluster` gives it: for variables, for values, for
      messages. (Not with `memory=false`: who knows the cluster's file says it better.)

    Input, and output:
    ```mlir
    module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
      module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#w]} {
        pdg.program {
          %w = pdg.recv #w to [2] : tensor<2xf32>
          pdg.fetch "w", %w : tensor<2xf32>
          pdg.yield
        }
      }
      module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#w]} {
        pdg.variable <"w"> : tensor<2xf32> param { ... }
        pdg.program {
          %w = pdg.read <"w"> : tensor<2xf32>
          pdg.send %w, #w : tensor<2xf32>
          pdg.yield
        }
      }
    }
    ```
  }];
  let options = [Option<"memory", "memory", "bool", "true", "Whether memory is checked">];
}

def JoinRoles : Pass<"pdg-join-roles", "::mlir::ModuleOp"> {
  let summary = "Joins the modules of all roles into one graph";
  let description = [{
    The inverse of pdg-insert-send-recv and pdg-split-roles: what was sent takes the place of what
    was received, a sum of all trainers' messages becomes a collective op, copies of one loop or
    condition become one. Fails if the roles do not fit together: a message that is not received or
    not sent, a value that roles compute for themselves and not alike.

    Input:
    ```mlir
    module @trainer attributes {pdg.role = #pdg.role<trainer>} {
      pdg.program {
        %w = pdg.recv #variable to [] : tensor<f32>
        %g = pdg.exp %w : tensor<f32>
        pdg.send %g, #gradient : tensor<f32>
        pdg.yield
      }
    }
    module @server_0 attributes {pdg.role = #pdg.role<server>} {
      pdg.program {
        %w = pdg.read <"w"> : tensor<f32>
        pdg.send %w, #variable : tensor<f32>
        %g = pdg.accumulate #gradient sum of 2 to [] : tensor<f32>
        pdg.assign <"w">, %g : tensor<f32>
        pdg.yield
      }
    }
    ```
    Output:
    ```mlir
    pdg.program {
      %w = pdg.read <"w"> : tensor<f32>
      %g = pdg.exp %w : tensor<f32>
      %sum = pdg.all_reduce %g sum of 2 : tensor<f32>
      pdg.assign <"w">, %sum : tensor<f32>
      pdg.yield
    }
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def Normalize : Pass<"pdg-normalize", "::mlir::ModuleOp"> {
  let summary = "Orders a graph by what it computes and drops marks, so that graphs compare as text";
  let description = [{
    Of ops that may run in any order the one with the least text comes first; attributes `pdg.*` of
    ops are removed; declarations are sorted by name.

    Input:
    ```mlir
    %a = pdg.exp %x : tensor<f32> {pdg.place = #pdg.role<trainer>}
    %b = pdg.cos %x : tensor<f32> {pdg.place = #pdg.role<server>}
    ```
    Output:
    ```mlir
    %b = pdg.cos %x : tensor<f32>
    %a = pdg.exp %x : tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def ReplicateDevices : Pass<"pdg-replicate-devices", "::mlir::ModuleOp"> {
  let summary = "Gives each slice that a trainer computes a device, and each device its copies";
  let description = [{
    With several devices to a trainer (`pdg.cluster`) a trainer computes as many slices of a batch.
    What is computed from slice d gets `pdg.device = d`; what has no mark is on the first device, as
    is what joins values of several. A value that another device uses goes through a queue of the
    process, once for each device. Runs after pdg-insert-send-recv: there is still one Send and one
    Recv for a variable.

    Input:
    ```mlir
    %w = pdg.recv <subject = <"w">, kind = variable, from = <server>, to = <trainer>> to [] : tensor<f32>
    %x1 = pdg.part %x axis 0 from %begin1 size %size1 : tensor<?xf32>
    %s1 = pdg.sum %x1 axis 0 : tensor<?xf32>
    %y1 = pdg.mul %s1, %w : tensor<f32>, tensor<f32>
    ```
    Output, where %begin1 is where slice 1 begins:
    ```mlir
    %w = pdg.recv <subject = <"w">, kind = variable, from = <server>, to = <trainer>> to [] : tensor<f32>
    pdg.enqueue %w, #edge capacity 1 : tensor<f32>
    %w1 = pdg.dequeue #edge to [] {pdg.device = 1 : i64} : tensor<f32>
    %x1 = pdg.part %x axis 0 from %begin1 size %size1 : tensor<?xf32>
    %n = pdg.dim %x1 axis 0 : tensor<?xf32>
    pdg.enqueue %x1, #slice capacity 1 : tensor<?xf32>
    %there = pdg.dequeue #slice to [%n] {pdg.device = 1 : i64} : tensor<?xf32>
    %s1 = pdg.sum %there axis 0 {pdg.device = 1 : i64} : tensor<?xf32>
    %y1 = pdg.mul %s1, %w1 {pdg.device = 1 : i64} : tensor<f32>, tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

def RenameReplicas : Pass<"pdg-rename-replicas", "::mlir::ModuleOp"> {
  let summary = "Names copies on devices after what they are copies of";
  let description = [{
    The first device keeps the true name; a copy on device d is its replica d. Users cannot write
    such names.

    Input:
    ```mlir
    pdg.enqueue %w, <subject = <"w">, kind = variable, number = 1, from = <trainer>, to = <trainer>>
        capacity 1 : tensor<f32>
    ```
    Output, if it is taken out on device 1:
    ```mlir
    pdg.enqueue %w, <subject = <"w", replica = 1>, kind = variable, from = <trainer>, to = <trainer>>
        capacity 1 : tensor<f32>
    ```
  }];
  let dependentDialects = ["::pdg::PdgDialect"];
}

#endif // PDG_PASSES_PASSES_TD
