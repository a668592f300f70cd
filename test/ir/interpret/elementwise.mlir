// Element-wise ops at the places where they differ from what a machine may do: NaN, -0, infinities,
// integers that wrap, division that rounds down, casts that saturate.
// RUN: %pdc run --interpret %s | FileCheck %s
// RUN: %pdc run %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  // CHECK: neg f32[2] [-0.0, nan]
  %a = pdg.constant dense<[0.0, 0x7FC00000]> : tensor<2xf32>
  %neg = pdg.neg %a : tensor<2xf32>
  pdg.print ["neg ", ""] [#pdg.format<>] (%neg : tensor<2xf32>)

  // NaN wins on both sides, and +0 over -0 does not depend on the order.
  // CHECK: maximum f32[4] [nan, nan, 2.0, inf]
  // CHECK: minimum f32[4] [nan, nan, 1.0, 3.0]
  %x = pdg.constant dense<[0x7FC00000, 1.0, 1.0, 0x7F800000]> : tensor<4xf32>
  %y = pdg.constant dense<[1.0, 0x7FC00000, 2.0, 3.0]> : tensor<4xf32>
  %max = pdg.maximum %x, %y : tensor<4xf32>, tensor<4xf32>
  %min = pdg.minimum %x, %y : tensor<4xf32>, tensor<4xf32>
  pdg.print ["maximum ", ""] [#pdg.format<>] (%max : tensor<4xf32>)
  pdg.print ["minimum ", ""] [#pdg.format<>] (%min : tensor<4xf32>)

  // CHECK: lt bool[4] [false, false, true, false]
  // CHECK: ne bool[4] [true, true, true, true]
  %lt = pdg.lt %x, %y : tensor<4xf32>, tensor<4xf32>
  %ne = pdg.ne %x, %x : tensor<4xf32>, tensor<4xf32>
  %neBoth = pdg.ne %x, %y : tensor<4xf32>, tensor<4xf32>
  pdg.print ["lt ", ""] [#pdg.format<>] (%lt : tensor<4xi1>)
  pdg.print ["ne ", ""] [#pdg.format<>] (%neBoth : tensor<4xi1>)
  // CHECK: unequal to itself bool[4] [true, false, false, false]
  pdg.print ["unequal to itself ", ""] [#pdg.format<>] (%ne : tensor<4xi1>)

  // CHECK: relu f32[4] [nan, 1.0, 1.0, inf]
  %relu = pdg.relu %x : tensor<4xf32>
  pdg.print ["relu ", ""] [#pdg.format<>] (%relu : tensor<4xf32>)

  // Every operation rounds by itself: 0.1 + 0.2 in f64, and 1/3 in f32.
  // CHECK: add 0.30000000000000004
  // CHECK: div 0.33333334
  %tenth = pdg.constant dense<0.1> : tensor<f64>
  %fifth = pdg.constant dense<0.2> : tensor<f64>
  %sum = pdg.add %tenth, %fifth : tensor<f64>, tensor<f64>
  pdg.print ["add ", ""] [#pdg.format<>] (%sum : tensor<f64>)
  %one = pdg.constant dense<1.0> : tensor<f32>
  %three = pdg.constant dense<3.0> : tensor<f32>
  %third = pdg.div %one, %three : tensor<f32>, tensor<f32>
  pdg.print ["div ", ""] [#pdg.format<>] (%third : tensor<f32>)

  // CHECK: floordiv i32[4] [3, -4, -4, 3]
  // CHECK: mod i32[4] [1, 1, -1, -1]
  %p = pdg.constant dense<[7, -7, 7, -7]> : tensor<4xi32>
  %q = pdg.constant dense<[2, 2, -2, -2]> : tensor<4xi32>
  %floordiv = pdg.floordiv %p, %q : tensor<4xi32>, tensor<4xi32>
  %mod = pdg.mod %p, %q : tensor<4xi32>, tensor<4xi32>
  pdg.print ["floordiv ", ""] [#pdg.format<>] (%floordiv : tensor<4xi32>)
  pdg.print ["mod ", ""] [#pdg.format<>] (%mod : tensor<4xi32>)

  // CHECK: wraps -2147483648
  %big = pdg.constant dense<2147483647> : tensor<i32>
  %unit = pdg.constant dense<1> : tensor<i32>
  %wrapped = pdg.add %big, %unit : tensor<i32>, tensor<i32>
  pdg.print ["wraps ", ""] [#pdg.format<>] (%wrapped : tensor<i32>)

  // CHECK: saturates i32[4] [2147483647, -2147483648, 0, -1]
  // CHECK: to u8 u8[2] [1, 255]
  // CHECK: to bool bool[2] [true, true]
  %floats = pdg.constant dense<[1.0e20, -1.0e20, 0x7FC00000, -1.9]> : tensor<4xf32>
  %ints = pdg.cast %floats to i32 : tensor<4xf32>
  pdg.print ["saturates ", ""] [#pdg.format<>] (%ints : tensor<4xi32>)
  %wide = pdg.constant dense<[257, -1]> : tensor<2xi32>
  %bytes = pdg.cast %wide to ui8 : tensor<2xi32>
  pdg.print ["to u8 ", ""] [#pdg.format<>] (%bytes : tensor<2xui8>)
  %bools = pdg.cast %wide to i1 : tensor<2xi32>
  pdg.print ["to bool ", ""] [#pdg.format<>] (%bools : tensor<2xi1>)
  pdg.yield
}
