// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{expects as many elements as before: 6, got 8}}
  %y = pdg.reshape %x to [2, 4] : tensor<2x3xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{expects equal sizes for dimension '1', got 3 and 4}}
  %y = pdg.broadcast %x to [2, 4] : tensor<2x3xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{expects at least 2 axes to broadcast to, got 1}}
  %y = pdg.broadcast %x to [3] : tensor<2x3xf32>
  pdg.yield
}

// -----

pdg.program { // slice_c1
  %x = pdg.input "x" : tensor<5xf32>
  // expected-error@+1 {{expects a range inside axis 0, got [2, 6)}}
  %y = pdg.slice %x axis 0 from 2 size 4 : tensor<5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<5xf32>
  // expected-error@+1 {{expects numbers of zeros that are not negative}}
  %y = pdg.pad %x axis 0 before -1 after 0 : tensor<5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3xf32>
  %y = pdg.input "y" : tensor<2x4xf32>
  // expected-error@+1 {{expects equal sizes for dimension '1', got 3 and 4}}
  %z = pdg.concat %x, %y axis 0 : tensor<2x3xf32>, tensor<2x4xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3xf32>
  // expected-error@+1 {{permutation}}
  %y = pdg.transpose %x [0, 0] : tensor<2x3xf32>
  pdg.yield
}
