// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<4xf32>
  // expected-error@+1 {{expects an axis below 1, got 1}}
  %y = pdg.cumsum %x axis 1 : tensor<4xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<4xf32>
  %y = pdg.input "y" : tensor<3xf32>
  // expected-error@+1 {{expects equal sizes for dimension '0', got 4 and 3}}
  %z = pdg.linear_scan %x, %y axis 0 : tensor<4xf32>, tensor<3xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<f32>
  // expected-error@+1 {{expects an axis below 0, got 0}}
  %y = pdg.argsort %x axis 0 : tensor<f32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<4x3xf32>
  %ids = pdg.input "ids" : tensor<4x2xi64>
  // expected-error@+1 {{expects equal sizes for dimension '1', got 3 and 2}}
  %y = pdg.take_along %x, %ids axis 0 : tensor<4x3xf32>, tensor<4x2xi64>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<4xf32>
  %ids = pdg.input "ids" : tensor<2xi64>
  %v = pdg.input "v" : tensor<3xf32>
  // expected-error@+1 {{expects equal sizes for dimension '0', got 2 and 3}}
  %y = pdg.add_along %x, %ids, %v axis 0 : tensor<4xf32>, tensor<2xi64>, tensor<3xf32>
  pdg.yield
}

// -----

pdg.program { // put_along_c1
  %x = pdg.input "x" : tensor<4xf32>
  %ids = pdg.input "ids" : tensor<2xi64>
  %v = pdg.input "v" : tensor<2xf64>
  // expected-error@+1 {{expects values with the element type of x}}
  %y = pdg.put_along %x, %ids, %v axis 0 : tensor<4xf32>, tensor<2xi64>, tensor<2xf64>
  pdg.yield
}
