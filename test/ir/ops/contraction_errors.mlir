// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program { // contract_c1
  %a = pdg.input "a" : tensor<2x2xf32>
  // expected-error@+1 {{expects distinct letters for each tensor in the index rule "ii,ij->j"}}
  %c = pdg.contract "ii,ij->j" %a, %a : tensor<2x2xf32>, tensor<2x2xf32>
  pdg.yield
}

// -----

pdg.program { // contract_c1
  %a = pdg.input "a" : tensor<2x2xf32>
  // expected-error@+1 {{expects letters of the result in an operand in the index rule "ik,kj->iz"}}
  %c = pdg.contract "ik,kj->iz" %a, %a : tensor<2x2xf32>, tensor<2x2xf32>
  pdg.yield
}

// -----

pdg.program { // contract_c2
  %a = pdg.input "a" : tensor<2x2xf32>
  // expected-error@+1 {{expects every letter in two of the three tensors in the index rule "ik,kj->i"}}
  %c = pdg.contract "ik,kj->i" %a, %a : tensor<2x2xf32>, tensor<2x2xf32>
  pdg.yield
}

// -----

pdg.program { // contract_c3
  %a = pdg.input "a" : tensor<2x2xf32>
  // expected-error@+1 {{expects as many letters as axes in the index rule "k,kj->j"}}
  %c = pdg.contract "k,kj->j" %a, %a : tensor<2x2xf32>, tensor<2x2xf32>
  pdg.yield
}

// -----

pdg.program {
  %a = pdg.input "a" : tensor<2x8xf32>
  %b = pdg.input "b" : tensor<7x4xf32>
  // expected-error@+1 {{expects equal sizes for dimension 'k', got 8 and 7}}
  %c = pdg.contract "ik,kj->ij" %a, %b : tensor<2x8xf32>, tensor<7x4xf32>
  pdg.yield
}

// -----

pdg.program {
  %a = pdg.input "a" : tensor<2x2xf32>
  // expected-error@+1 {{expects a summed index on axis 0 of both operands to cut into leaves}}
  %c = pdg.contract "ik,kj->ij" %a, %a leaves : tensor<2x2xf32>, tensor<2x2xf32>
  pdg.yield
}
