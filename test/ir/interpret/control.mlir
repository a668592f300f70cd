// Loops, conditions and variables: what was read stays what it was.
// RUN: %pdc run --interpret %s --fetch %t.npz --save %t.safetensors | FileCheck %s
// RUN: %pdc run %s --fetch %t.native.npz | FileCheck %s
// RUN: cmp %t.npz %t.native.npz
// RUN: %pdc run --interpret %s --load %t.safetensors | FileCheck %s --check-prefix=LOADED
// SPDX-License-Identifier: Apache-2.0

pdg.variable <"w"> : tensor<2xf32> param {
  %init = pdg.constant dense<[1.0, 2.0]> : tensor<2xf32>
  pdg.yield %init : tensor<2xf32>
}
pdg.variable <"w", state = "sum.n"> : tensor<i64> {
  %zero = pdg.constant dense<0> : tensor<i64>
  pdg.yield %zero : tensor<i64>
}

pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %two = pdg.constant dense<2> : tensor<i64>
  %three = pdg.constant dense<3> : tensor<i64>
  // CHECK: before f32[2] [1.0, 2.0] after f32[2] [8.0, 16.0]
  // LOADED: before f32[2] [8.0, 16.0] after f32[2] [64.0, 128.0]
  %before = pdg.read <"w"> : tensor<2xf32>
  pdg.for %zero to %three {
  ^bb0(%i: tensor<i64>):
    %w = pdg.read <"w"> : tensor<2xf32>
    %twice = pdg.add %w, %w : tensor<2xf32>, tensor<2xf32>
    pdg.assign <"w">, %twice : tensor<2xf32>
    %n = pdg.read <"w", state = "sum.n"> : tensor<i64>
    %next = pdg.add %n, %i : tensor<i64>, tensor<i64>
    pdg.assign <"w", state = "sum.n">, %next : tensor<i64>
    pdg.yield
  }
  %after = pdg.read <"w"> : tensor<2xf32>
  pdg.print ["before ", " after ", ""] [#pdg.format<>, #pdg.format<>] (%before, %after
      : tensor<2xf32>, tensor<2xf32>)

  // CHECK: carried 7 swapped 2 0
  %a, %b, %c = pdg.for %zero to %three carry (%zero, %two, %two : tensor<i64>, tensor<i64>, tensor<i64>)
      -> tensor<i64>, tensor<i64>, tensor<i64> {
  ^bb0(%i: tensor<i64>, %p: tensor<i64>, %q: tensor<i64>, %n: tensor<i64>):
    %double = pdg.add %n, %i : tensor<i64>, tensor<i64>
    %even = pdg.eq %i, %two : tensor<i64>, tensor<i64>
    %r = pdg.if %even -> tensor<i64> {
      %extra = pdg.add %double, %two : tensor<i64>, tensor<i64>
      pdg.yield %extra : tensor<i64>
    } else {
      pdg.yield %double : tensor<i64>
    }
    pdg.yield %q, %p, %r : tensor<i64>, tensor<i64>, tensor<i64>
  }
  pdg.print ["carried ", " swapped ", " ", ""] [#pdg.format<>, #pdg.format<>, #pdg.format<>]
      (%c, %a, %b : tensor<i64>, tensor<i64>, tensor<i64>)

  // A loop without iterations gives what it was given; of one name the last value is fetched.
  // CHECK: empty 0
  // LOADED: last = 2
  %none = pdg.for %three to %two carry (%zero : tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>, %p: tensor<i64>):
    pdg.yield %i : tensor<i64>
  }
  pdg.print ["empty ", ""] [#pdg.format<>] (%none : tensor<i64>)

  // A round may say that it is the last: what it yields are the results. It says so by a carried
  // value, whose place the next values take.
  // CHECK: ended 1 true false
  %most = pdg.constant dense<9223372036854775807> : tensor<i64>
  %yes = pdg.constant dense<true> : tensor<i1>
  %no = pdg.constant dense<false> : tensor<i1>
  %at, %x, %y = pdg.for %zero to %most carry (%zero, %yes, %no : tensor<i64>, tensor<i1>, tensor<i1>)
      -> tensor<i64>, tensor<i1>, tensor<i1> {
  ^bb0(%i: tensor<i64>, %last: tensor<i64>, %p: tensor<i1>, %q: tensor<i1>):
    pdg.yield %i, %q, %p : tensor<i64>, tensor<i1>, tensor<i1> while %p
  }
  pdg.print ["ended ", " ", " ", ""] [#pdg.format<>, #pdg.format<>, #pdg.format<>]
      (%at, %x, %y : tensor<i64>, tensor<i1>, tensor<i1>)
  pdg.for %zero to %three {
  ^bb0(%i: tensor<i64>):
    pdg.fetch "last", %i : tensor<i64>
    pdg.yield
  }
  pdg.yield
}
