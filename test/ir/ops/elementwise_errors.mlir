// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<2x3xf32>
  %y = pdg.input "y" : tensor<2x4xf32>
  // expected-error@+1 {{expects equal sizes for dimension '1', got 3 and 4}}
  %z = pdg.add %x, %y : tensor<2x3xf32>, tensor<2x4xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2xf32>
  %y = pdg.input "y" : tensor<f32>
  // expected-error@+1 {{expects operands with equal numbers of axes, got 1 and 0}}
  %z = pdg.mul %x, %y : tensor<2xf32>, tensor<f32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2xf32>
  %y = pdg.input "y" : tensor<2xf64>
  // expected-error@+1 {{op requires the same element type for all operands}}
  %z = pdg.add %x, %y : tensor<2xf32>, tensor<2xf64>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2xi32>
  // expected-error@+1 {{operand #0 must be tensor of floats}}
  %z = pdg.exp %x : tensor<2xi32>
  pdg.yield
}
