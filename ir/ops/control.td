// Programs, loops and conditions.
// SPDX-License-Identifier: Apache-2.0
include "ir/attrs.td"

def Pdg_ProgramOp : Pdg_Op<"program", [SingleBlock, NoRegionArguments, IsolatedFromAbove,
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "What the script does, from its first statement to its last";
  let description = [{
    ```mlir
    pdg.program {
      %n = pdg.constant dense<3> : tensor<i64>
      pdg.print ["n is ", ""] [#pdg.format<>] (%n : tensor<i64>)
      pdg.yield
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Pdg_YieldOp : Pdg_Op<"yield", [Pure, Terminator, ReturnLike, AttrSizedOperandSegments]> {
  let summary = "Ends a region and gives its values";
  let description = [{
    In a loop it gives the next carried values. `while %c` says whether there is another round:
    when it is false the loop ends, and these values are its results.

    (C1) Only a loop has a `while`.

    ```mlir
    %zero = pdg.constant dense<0> : tensor<i64>
    %three = pdg.constant dense<3> : tensor<i64>
    // -> 3
    %last = pdg.for %zero to %three carry (%zero : tensor<i64>) -> tensor<i64> {
    ^bb0(%i: tensor<i64>, %carried: tensor<i64>):
      %next = pdg.add %carried, %i : tensor<i64>, tensor<i64>
      %goes_on = pdg.lt %next, %three : tensor<i64>, tensor<i64>
      pdg.yield %next : tensor<i64> while %goes_on
    }
    ```
  }];
  let arguments = (ins Variadic<Pdg_Stored>:$values, Optional<Pdg_Condition>:$goesOn);
  let assemblyFormat = "($values^ `:` type($values))? (`while` $goesOn^)? attr-dict";
  let hasVerifier = 1;
  let builders = [
    OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">,
    OpBuilder<(ins "::mlir::ValueRange":$values),
              "build($_builder, $_state, values, ::mlir::Value());">];
}

def Pdg_IfOp : Pdg_Op<"if", [RecursiveMemoryEffects, DeclareOpInterfaceMethods<LowerableOpInterface>, NoRegionArguments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs one of two regions";
  let description = [{
    ```mlir
    %yes = pdg.constant dense<true> : tensor<i1>
    %one = pdg.constant dense<1> : tensor<i64>
    %two = pdg.constant dense<2> : tensor<i64>
    // -> 1
    %y = pdg.if %yes -> tensor<i64> {
      pdg.yield %one : tensor<i64>
    } else {
      pdg.yield %two : tensor<i64>
    }
    ```
  }];
  let arguments = (ins Pdg_Condition:$condition);
  let results = (outs Variadic<Pdg_Stored>:$results);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $condition (`->` type($results)^)? $thenRegion `else` $elseRegion attr-dict
  }];
  let hasVerifier = 1;
}

def Pdg_FusedOp : Pdg_Op<"fused", [RecursiveMemoryEffects, NoRegionArguments,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Element ops of equal sizes, computed in one pass over memory";
  let description = [{
    Made by pdg-fuse. The results are those values that are used outside.

    ```mlir
    %x = pdg.constant dense<[1.0, -2.0]> : tensor<2xf32>
    // -> [1, 0]
    %y = pdg.fused -> tensor<2xf32> {
      %square = pdg.mul %x, %x : tensor<2xf32>, tensor<2xf32>
      %r = pdg.relu %x : tensor<2xf32>
      %m = pdg.minimum %square, %r : tensor<2xf32>, tensor<2xf32>
      pdg.yield %m : tensor<2xf32>
    }
    ```
  }];
  let results = (outs Variadic<Pdg_Stored>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`->` type($results)^)? $body attr-dict";
}

def Pdg_ForOp : Pdg_Op<"for", [RecursiveMemoryEffects, DeclareOpInterfaceMethods<LowerableOpInterface>,
    DeclareOpInterfaceMethods<LoopOpInterface>, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs its region for each number of a range";
  let description = [{
    The region's arguments are the number, a scalar i64, and the carried values; its yield gives
    the next carried values. The last are the results. A loop that only a condition ends, `while` of
    the language, counts up to the largest i64. `max` is a number of rounds that the range is known
    not to exceed.

    ```mlir
    %zero = pdg.constant dense<0> : tensor<i64>
    %four = pdg.constant dense<4> : tensor<i64>
    // -> 6
    %sum = pdg.for %zero to %four carry (%zero : tensor<i64>) -> tensor<i64> {
    ^bb0(%i: tensor<i64>, %carried: tensor<i64>):
      %next = pdg.add %carried, %i : tensor<i64>, tensor<i64>
      pdg.yield %next : tensor<i64>
    }
    ```
  }];
  let arguments = (ins Pdg_Size:$lower, Pdg_Size:$upper, OptionalAttr<I64Attr>:$max,
                       Variadic<Pdg_Stored>:$inits);
  let results = (outs Variadic<Pdg_Stored>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $lower `to` $upper (`max` $max^)? (`carry` `(` $inits^ `:` type($inits) `)`)?
        (`->` type($results)^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lower, "::mlir::Value":$upper,
                                 "::mlir::ValueRange":$inits,
                                 CArg<"::mlir::IntegerAttr", "{}">:$max)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    /// How many rounds there are at most, if that is known when compiling.
    std::optional<int64_t> getBound();
  }];
}

def Pdg_ForEachOp : Pdg_Op<"for_each", [DeclareOpInterfaceMethods<LowerableOpInterface>,
    DeclareOpInterfaceMethods<LoopOpInterface>, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs its region for each batch of one pass over a data source";
  let description = [{
    The region's arguments are the number of the batch, a scalar i64, its fields ([n, ...], where n
    is the number of examples in the batch), and the carried values. A yield that says so ends the
    pass; the next loop begins a new one.

    ```mlir
    pdg.source @points "csv" ["points.csv"] batch 2 : [tensor<2xf32>]
    pdg.program {
      pdg.for_each @points {
      ^bb0(%step: tensor<i64>, %x: tensor<?x2xf32>):
        pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%step, %x
            : tensor<i64>, tensor<?x2xf32>)
        pdg.yield
      }
      pdg.yield
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source, Variadic<Pdg_Stored>:$inits);
  let results = (outs Variadic<Pdg_Stored>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $source (`carry` `(` $inits^ `:` type($inits) `)`)? (`->` type($results)^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::pdg::SourceOp":$source, "::mlir::ValueRange":$inits)>];
  let extraClassDeclaration = [{
    /// The number of fields of an example.
    unsigned getNumFields() { return getBody().getNumArguments() - 1 - getInits().size(); }
    /// The declaration of the source.
    ::pdg::SourceOp getSourceOp();
    /// The largest number of examples in a batch.
    int64_t getBatchBound();
  }];
}

def Pdg_LoopForeverOp : Pdg_Op<"loop_forever", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<LowerableOpInterface>, DeclareOpInterfaceMethods<LoopOpInterface>,
    SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Runs its region until a message, or the end of the job, ends it";
  let description = [{
    The main loop of a server: how often it runs, others decide. The region's arguments are the
    carried values, and its yield gives the next ones; `while %c` of the yield says whether there is
    another round, and without it the loop ends only when the job does.

    Inputs: the carried values. Outputs: their last values.

    ```mlir
    %zero = pdg.constant dense<0> : tensor<i64>
    %three = pdg.constant dense<3> : tensor<i64>
    // -> 3
    %n = pdg.loop_forever carry (%zero : tensor<i64>) -> tensor<i64> {
    ^bb0(%carried: tensor<i64>):
      %one = pdg.constant dense<1> : tensor<i64>
      %next = pdg.add %carried, %one : tensor<i64>, tensor<i64>
      %goes_on = pdg.lt %next, %three : tensor<i64>, tensor<i64>
      pdg.yield %next : tensor<i64> while %goes_on
    }
    ```
  }];
  let arguments = (ins Variadic<Pdg_Stored>:$inits);
  let results = (outs Variadic<Pdg_Stored>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`carry` `(` $inits^ `:` type($inits) `)`)? (`->` type($results)^)? $body attr-dict
  }];
  let hasVerifier = 1;
}
