// The order of sums, shown with 1e8 and ones: in f32 a one that is added to 1e8 is lost, sixteen of
// them that were added up before are not.
// RUN: %pdc run --interpret %s | FileCheck %s
// RUN: %pdc run %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %big = pdg.constant dense<1.0e8> : tensor<f32>
  %one = pdg.constant dense<1.0> : tensor<f32>
  %zero = pdg.constant dense<0> : tensor<i64>

  // Axis 0, 32 rows: two leaves of 16, the first loses its ones.
  // CHECK: axis 0 f32[2] [100000016.0, 100000016.0]
  %row = pdg.iota i64 axis 0 to [32, 2]
  %zeros = pdg.broadcast %zero to [32, 2] : tensor<i64>
  %first = pdg.eq %row, %zeros : tensor<32x2xi64>, tensor<32x2xi64>
  %bigs = pdg.broadcast %big to [32, 2] : tensor<f32>
  %ones = pdg.broadcast %one to [32, 2] : tensor<f32>
  %x = pdg.select %first, %bigs, %ones : tensor<32x2xi1>, tensor<32x2xf32>, tensor<32x2xf32>
  %sum0 = pdg.sum %x axis 0 : tensor<32x2xf32>
  pdg.print ["axis 0 ", ""] [#pdg.format<precision = 1>] (%sum0 : tensor<2xf32>)

  // 24 rows are no two leaves of 16: one chain, all ones are lost.
  // CHECK: one leaf f32[2] [100000000.0, 100000000.0]
  %short = pdg.slice %x axis 0 from 0 size 24 : tensor<32x2xf32>
  %sumShort = pdg.sum %short axis 0 : tensor<24x2xf32>
  pdg.print ["one leaf ", ""] [#pdg.format<>] (%sumShort : tensor<2xf32>)

  // The last axis: 16 lanes of two, joined as a tree: 1e8, 2+2, 4+4, 8+8 come one after the other.
  // CHECK: last axis f32[1] [100000024.0]
  %column = pdg.slice %x axis 1 from 0 size 1 : tensor<32x2xf32>
  %line = pdg.reshape %column to [1, 32] : tensor<32x1xf32>
  %sum1 = pdg.sum %line axis 1 : tensor<1x32xf32>
  pdg.print ["last axis ", ""] [#pdg.format<>] (%sum1 : tensor<1xf32>)

  // A middle axis is a chain.
  // CHECK: middle axis f32[1, 2]
  // CHECK-NEXT: [100000000.0, 100000000.0]
  %cube = pdg.reshape %x to [1, 32, 2] : tensor<32x2xf32>
  %sumMiddle = pdg.sum %cube axis 1 : tensor<1x32x2xf32>
  pdg.print ["middle axis ", ""] [#pdg.format<>] (%sumMiddle : tensor<1x2xf32>)

  // CHECK: empty 0.0
  %none = pdg.slice %sum0 axis 0 from 0 size 0 : tensor<2xf32>
  %sumNone = pdg.sum %none axis 0 : tensor<0xf32>
  pdg.print ["empty ", ""] [#pdg.format<>] (%sumNone : tensor<f32>)

  // CHECK: max nan at 1 i32 -3
  %values = pdg.constant dense<[7.0, 0x7FC00000, 9.0, 0x7FC00000]> : tensor<4xf32>
  %max = pdg.reduce_max %values axis 0 : tensor<4xf32>
  %at = pdg.argmax %values axis 0 : tensor<4xf32>
  %integers = pdg.constant dense<[5, -3, 4]> : tensor<3xi32>
  %min = pdg.reduce_min %integers axis 0 : tensor<3xi32>
  pdg.print ["max ", " at ", " i32 ", ""] [#pdg.format<>, #pdg.format<>, #pdg.format<>]
      (%max, %at, %min : tensor<f32>, tensor<i64>, tensor<i32>)
  // Ties take the smallest index.
  // CHECK: ties 1 0
  %ties = pdg.constant dense<[2, 8, 2, 8]> : tensor<4xi32>
  %largest = pdg.argmax %ties axis 0 : tensor<4xi32>
  %smallest = pdg.argmin %ties axis 0 : tensor<4xi32>
  pdg.print ["ties ", " ", ""] [#pdg.format<>, #pdg.format<>] (%largest, %smallest
      : tensor<i64>, tensor<i64>)
  pdg.yield
}
