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

// -----

pdg.program {
  %x = pdg.input "x" : tensor<4x3xf32>
  %ids = pdg.input "ids" : tensor<2xi64>
  // expected-error@+1 {{expects a position without axes}}
  %s = pdg.take_row %x at %ids axis 1 : tensor<4x3xf32>, tensor<2xi64>
  pdg.yield
}

// -----

pdg.program { // put_slice_c1
  %x = pdg.input "x" : tensor<4x3xf32>
  %part = pdg.input "part" : tensor<4x1xf32>
  %at = pdg.input "at" : tensor<i64>
  // expected-error@+1 {{expects a step of at least 1 and a part of the same element type}}
  %s = pdg.put_slice %x, %part at %at axis 1 step 0 : tensor<4x3xf32>, tensor<4x1xf32>
  pdg.yield
}

// -----

pdg.program { // conv2d_weight_leaves_c3
  %x = pdg.input "x" : tensor<2x1x4x4xf32>
  %g = pdg.input "g" : tensor<2x1x3x3xf32>
  %l = pdg.input "l" : tensor<3x1x1x2x2xf32>
  // expected-error@+1 {{expects 1, 2, 4, 8 or 16 leaves on axis 0 of 'tensor<3x1x1x2x2xf32>'}}
  %s = pdg.conv2d_weight_leaves %x, %g onto %l window [2, 2] stride [1, 1] padding [0, 0, 0, 0]
      dilation [1, 1] groups 1 : tensor<2x1x4x4xf32>, tensor<2x1x3x3xf32>, tensor<3x1x1x2x2xf32>
  pdg.yield
}
