// RUN: %pdc-opt --pdg-canonicalize-contractions %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.variable <"x"> : tensor<2x4x3xf32> {
  %x = pdg.constant dense<1.0> : tensor<2x4x3xf32>
  pdg.yield %x : tensor<2x4x3xf32>
}
pdg.variable <"w"> : tensor<4x5xf32> {
  %x = pdg.constant dense<1.0> : tensor<4x5xf32>
  pdg.yield %x : tensor<4x5xf32>
}

// CHECK-LABEL: pdg.program
pdg.program {
  %x = pdg.read <"x"> : tensor<2x4x3xf32>
  %w = pdg.read <"w"> : tensor<4x5xf32>
  // The summed axis is between the free ones: it moves to the end.
  // CHECK: %[[T:.*]] = pdg.transpose %{{.*}} [0, 2, 1]
  // CHECK: pdg.contract "{{...}},{{..}}->{{...}}" %[[T]]
  %y = pdg.contract "bki,kj->bij" %x, %w : tensor<2x4x3xf32>, tensor<4x5xf32>
  // Transposed operands are read as they are.
  // CHECK-NOT: pdg.transpose
  // CHECK: pdg.contract "bik,jk->bij"
  %w2 = pdg.constant dense<1.0> : tensor<5x3xf32>
  %u = pdg.contract "bik,jk->bij" %x, %w2 : tensor<2x4x3xf32>, tensor<5x3xf32>
  pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%y, %u : tensor<2x3x5xf32>, tensor<2x4x5xf32>)
  pdg.yield
}
