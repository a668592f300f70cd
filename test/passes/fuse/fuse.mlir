// RUN: %pdc-opt --pdg-fuse %s | FileCheck %s
// What is fused stays as it is.
// RUN: %pdc-opt --pdg-fuse --pdg-fuse %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.variable <"x"> : tensor<8xf32> {
  %x = pdg.constant dense<1.0> : tensor<8xf32>
  pdg.yield %x : tensor<8xf32>
}

// CHECK-LABEL: pdg.program
pdg.program {
  %x = pdg.read <"x"> : tensor<8xf32>
  // A chain is one group; only what is used outside is a result.
  // CHECK: %[[A:.*]] = pdg.fused -> tensor<8xf32> {
  // CHECK-NEXT: pdg.exp
  // CHECK-NEXT: pdg.neg
  // CHECK-NEXT: pdg.yield
  %a = pdg.exp %x : tensor<8xf32>
  %b = pdg.neg %a : tensor<8xf32>
  // CHECK: pdg.sum %[[A]] axis 0
  %s = pdg.sum %b axis 0 : tensor<8xf32>
  // A broadcast is copied into its user, which cannot join the group before the sum.
  // CHECK: %[[C:.*]] = pdg.fused -> tensor<8xf32> {
  // CHECK-NEXT: pdg.broadcast
  // CHECK-NEXT: pdg.mul
  %r = pdg.broadcast %s to [8] : tensor<f32>
  %c = pdg.mul %b, %r : tensor<8xf32>, tensor<8xf32>
  // A transpose reads at other places: its operand must be in memory.
  %m = pdg.reshape %c to [2, 4] : tensor<8xf32>
  // CHECK: pdg.fused -> tensor<2x4xf32>
  // CHECK-NEXT: pdg.sqrt
  // CHECK: pdg.fused -> tensor<4x2xf32>
  // CHECK-NEXT: pdg.transpose
  // CHECK-NEXT: pdg.abs
  %q = pdg.sqrt %m : tensor<2x4xf32>
  %t = pdg.transpose %q [1, 0] : tensor<2x4xf32>
  %u = pdg.abs %t : tensor<4x2xf32>
  pdg.print ["", ""] [#pdg.format<>] (%u : tensor<4x2xf32>)
  pdg.yield
}
