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

// -----

pdg.program { // bf16, f16 and i8 are stored and converted, nothing else
  %x = pdg.input "x" : tensor<2xf16>
  // expected-error@+1 {{operand #0 must be tensor of numbers, but got 'tensor<2xf16>'}}
  %y = pdg.neg %x : tensor<2xf16>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2xi8>
  // expected-error@+1 {{operand #0 must be tensor of a pdg type, but got 'tensor<2xi8>'}}
  %y = pdg.eq %x, %x : tensor<2xi8>, tensor<2xi8>
  pdg.yield
}

// -----

pdg.program {
  // expected-error@+1 {{must be tensor of a pdg type}}
  %x = pdg.constant dense<1.0> : tensor<2xbf16>
  pdg.yield
}
