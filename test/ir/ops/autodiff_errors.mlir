// RUN: %pdc-opt --pdg-differentiate --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<2xf32>
  // expected-error@+1 {{expects a scalar}}
  %g = pdg.gradient %x of [] %x : tensor<2xf32> : tensor<2xf32> -> tensor<2xf32>
  pdg.fetch "g", %g : tensor<2xf32>
  pdg.yield
}
