// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program { // leaves_c1
  %x = pdg.input "x" : tensor<64x3xf32>
  %l = pdg.input "l" : tensor<3x3xf32>
  // expected-error@+1 {{expects 1, 2, 4, 8 or 16 leaves on axis 0 of 'tensor<3x3xf32>'}}
  %s = pdg.sum_leaves %x onto %l : tensor<64x3xf32>, tensor<3x3xf32>
  pdg.yield
}

// -----

pdg.program { // join_leaves_c1
  %l = pdg.input "l" : tensor<32x3xf32>
  // expected-error@+1 {{expects 1, 2, 4, 8 or 16 leaves on axis 0 of 'tensor<32x3xf32>'}}
  %s = pdg.join_leaves %l : tensor<32x3xf32>
  pdg.yield
}

// -----

pdg.program { // contract_leaves_c2
  %x = pdg.input "x" : tensor<4x3xf32>
  %l = pdg.input "l" : tensor<2x4x4xf32>
  // expected-error@+1 {{expects one leaf of a sum that is not cut, got 2}}
  %s = pdg.contract_leaves "nk,mk->nm" %x, %x onto %l
      : tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x4x4xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<4x3xf32>
  %l = pdg.input "l" : tensor<2x4x4xf32>
  // expected-error@+1 {{expects a summed index on axis 0 of both operands to cut into leaves}}
  %s = pdg.contract_leaves "nk,mk->nm" %x, %x cut onto %l
      : tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x4x4xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<64x3xf32>
  %l = pdg.input "l" : tensor<4x5xf32>
  // expected-error@+1 {{expects equal sizes for dimension '1', got 5 and 3}}
  %s = pdg.sum_leaves %x onto %l : tensor<64x3xf32>, tensor<4x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %ids = pdg.input "ids" : tensor<64xi64>
  %x = pdg.input "x" : tensor<64x3xf32>
  %l = pdg.input "l" : tensor<4xf32>
  // expected-error@+1 {{expects rows with at least the 1 axes of the indices, and leaves of tables}}
  %s = pdg.scatter_leaves %x at %ids onto %l : tensor<64xi64>, tensor<64x3xf32>, tensor<4xf32>
  pdg.yield
}
