// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<4x5xf32>
  // expected-error@+1 {{expects an axis below 2, got 2}}
  %sum = pdg.sum %x axis 2 : tensor<4x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<4xi1>
  // expected-error@+1 {{operand #0 must be tensor of numbers}}
  %max = pdg.reduce_max %x axis 0 : tensor<4xi1>
  pdg.yield
}
