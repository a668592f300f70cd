// Gather, pick and scatter-add; ops that move elements.
// RUN: %pdc run --interpret %s | FileCheck %s
// RUN: %pdc run %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %table = pdg.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %ids = pdg.constant dense<[2, 0, 2]> : tensor<3xi32>
  // CHECK: gather f32[3, 2]
  // CHECK-NEXT: [5.0, 6.0]
  // CHECK-NEXT: [1.0, 2.0]
  // CHECK-NEXT: [5.0, 6.0]
  %rows = pdg.gather %table, %ids : tensor<3x2xf32>, tensor<3xi32>
  pdg.print ["gather ", ""] [#pdg.format<>] (%rows : tensor<3x2xf32>)

  // CHECK: scatter f32[4, 2]
  // CHECK-NEXT: [ 1.0, 2.0]
  // CHECK-NEXT: [ 0.0, 0.0]
  // CHECK-NEXT: [10.0, 12.0]
  // CHECK-NEXT: [ 0.0, 0.0]
  %sums = pdg.scatter_add %rows at %ids into 4 : tensor<3xi32>, tensor<3x2xf32>
  pdg.print ["scatter ", ""] [#pdg.format<>] (%sums : tensor<4x2xf32>)

  // CHECK: pick f32[3] [2.0, 3.0, 6.0]
  %labels = pdg.constant dense<[1, 0, 1]> : tensor<3xui8>
  %picked = pdg.pick %table, %labels : tensor<3x2xf32>, tensor<3xui8>
  pdg.print ["pick ", ""] [#pdg.format<>] (%picked : tensor<3xf32>)

  // CHECK: transpose f32[2, 3]
  // CHECK-NEXT: [1.0, 3.0, 5.0]
  // CHECK-NEXT: [2.0, 4.0, 6.0]
  %t = pdg.transpose %table [1, 0] : tensor<3x2xf32>
  pdg.print ["transpose ", ""] [#pdg.format<>] (%t : tensor<2x3xf32>)

  // CHECK: pad f32[5] [0.0, 2.0, 3.0, 6.0, 0.0]
  %padded = pdg.pad %picked axis 0 before 1 after 1 : tensor<3xf32>
  pdg.print ["pad ", ""] [#pdg.format<>] (%padded : tensor<5xf32>)

  // CHECK: concat f32[5] [2.0, 3.0, 6.0, 3.0, 6.0]
  %tail = pdg.slice %picked axis 0 from 1 size -1 : tensor<3xf32>
  %joined = pdg.concat %picked, %tail axis 0 : tensor<3xf32>, tensor<2xf32>
  pdg.print ["concat ", ""] [#pdg.format<>] (%joined : tensor<5xf32>)

  // CHECK: iota i64[2, 3]
  // CHECK-NEXT: [0, 1, 2]
  // CHECK-NEXT: [0, 1, 2]
  %position = pdg.iota i64 axis 1 to [2, 3]
  pdg.print ["iota ", ""] [#pdg.format<>] (%position : tensor<2x3xi64>)

  // CHECK: broadcast f32[2, 3]
  // CHECK-NEXT: [2.0, 3.0, 6.0]
  // CHECK-NEXT: [2.0, 3.0, 6.0]
  %spread = pdg.broadcast %picked to [2, 3] : tensor<3xf32>
  pdg.print ["broadcast ", ""] [#pdg.format<>] (%spread : tensor<2x3xf32>)
  pdg.yield
}
