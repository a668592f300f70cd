// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %table = pdg.input "table" : tensor<f32>
  %ids = pdg.input "ids" : tensor<3xi32>
  // expected-error@+1 {{expects a table with at least one axis}}
  %rows = pdg.gather %table, %ids : tensor<f32>, tensor<3xi32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<3x4xf32>
  %ids = pdg.input "ids" : tensor<2xi32>
  // expected-error@+1 {{expects equal sizes for dimension '0', got 3 and 2}}
  %picked = pdg.pick %x, %ids : tensor<3x4xf32>, tensor<2xi32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<3x4xf32>
  %ids = pdg.input "ids" : tensor<3xf32>
  // expected-error@+1 {{operand #1 must be tensor of integers}}
  %picked = pdg.gather %x, %ids : tensor<3x4xf32>, tensor<3xf32>
  pdg.yield
}
