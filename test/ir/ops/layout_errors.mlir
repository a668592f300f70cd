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

// -----

pdg.program { // slice_c1
  %x = pdg.input "x" : tensor<5xf32>
  // expected-error@+1 {{expects a range inside axis 0, got [1, 6)}}
  %y = pdg.slice %x axis 0 from 1 size 3 step 2 : tensor<5xf32>
  pdg.yield
}

// -----

pdg.program { // slice_c1: the end would overflow
  %x = pdg.input "x" : tensor<5xf32>
  // expected-error@+1 {{expects a range inside axis 0}}
  %y = pdg.slice %x axis 0 from 1 size 9223372036854775807 step 3 : tensor<5xf32>
  pdg.yield
}

// -----

pdg.program { // slice_c2
  %x = pdg.input "x" : tensor<5xf32>
  // expected-error@+1 {{expects a step of at least 1, got 0}}
  %y = pdg.slice %x axis 0 from 1 size 3 step 0 : tensor<5xf32>
  pdg.yield
}

// -----

pdg.program { // pad_c2
  %x = pdg.input "x" : tensor<5xf32>
  // expected-error@+1 {{expects a step of at least 1 of a known size, got -1}}
  %y = pdg.pad %x axis 0 before 0 after 0 step -1 : tensor<5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<5xf32>
  // expected-error@+1 {{expects an axis below 1, got 1}}
  %y = pdg.flip %x axis 1 : tensor<5xf32>
  pdg.yield
}

// -----

pdg.program {
  // expected-error@+1 {{expects the element type i64}}
  %y = pdg.iota f16 axis 0 to [4]
  pdg.yield
}
