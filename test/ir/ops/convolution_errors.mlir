// What the shape rules of convolutions and pooling refuse.
// RUN: %pdc-opt %s --split-input-file --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<2x3x4x4xf32>
  %w = pdg.input "w" : tensor<6x3x5x5xf32>
  // expected-error @below {{expects a height of at least 5, which the window covers, got 4}}
  %y = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
      : tensor<2x3x4x4xf32>, tensor<6x3x5x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3x4x9xf32>
  %w = pdg.input "w" : tensor<6x3x3x5xf32>
  // expected-error @below {{expects a width of at least 13, which the window covers, got 9 and 2 of padding}}
  %y = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 1, 1] dilation [1, 3] groups 1
      : tensor<2x3x4x9xf32>, tensor<6x3x3x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x4x4x4xf32>
  %w = pdg.input "w" : tensor<6x1x3x3xf32>
  // expected-error @below {{expects a number of groups that divides the 6 filters, got 4}}
  %y = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 4
      : tensor<2x4x4x4xf32>, tensor<6x1x3x3xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x4x4x4xf32>
  %w = pdg.input "w" : tensor<6x1x3x3xf32>
  // expected-error @below {{channels of all groups}}
  %y = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 2
      : tensor<2x4x4x4xf32>, tensor<6x1x3x3xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3x4xf32>
  %w = pdg.input "w" : tensor<6x3x5x5xf32>
  // expected-error @below {{expects four axes [examples, channels, height, width], got 3}}
  %y = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
      : tensor<2x3x4xf32>, tensor<6x3x5x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3x8x8xf32>
  %w = pdg.input "w" : tensor<6x3x5x5xf32>
  // expected-error @below {{expects a stride of at least 1}}
  %y = pdg.conv2d %x, %w stride [0, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
      : tensor<2x3x8x8xf32>, tensor<6x3x5x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3x8x8xf32>
  %w = pdg.input "w" : tensor<6x3x5x5xf32>
  // expected-error @below {{expects two numbers for window, stride and dilation and four for padding}}
  %y = pdg.conv2d %x, %w stride [1, 1] padding [0, 0] dilation [1, 1] groups 1
      : tensor<2x3x8x8xf32>, tensor<6x3x5x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %g = pdg.input "g" : tensor<2x6x4x5xf32>
  %w = pdg.input "w" : tensor<6x3x5x5xf32>
  // expected-error @below {{width of the output}}
  %y = pdg.conv2d_input_grad %g, %w picture [8, 8] stride [1, 1] padding [0, 0, 0, 0]
      dilation [1, 1] groups 1 : tensor<2x6x4x5xf32>, tensor<6x3x5x5xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3x8x8xf32>
  // expected-error @below {{expects a padding that is smaller than the window of 2, got 2}}
  %y = pdg.max_pool2d %x window [2, 2] stride [2, 2] padding [0, 0, 2, 0] : tensor<2x3x8x8xf32>
  pdg.yield
}

// -----

pdg.program {
  %x = pdg.input "x" : tensor<2x3x0x8xf32>
  // expected-error @below {{expects pictures that are not empty}}
  %y = pdg.sum_pool2d %x window [2, 2] stride [2, 2] padding [1, 1, 0, 0] : tensor<2x3x0x8xf32>
  pdg.yield
}

// -----

pdg.program {
  %g = pdg.input "g" : tensor<2x3x4x4xf32>
  // expected-error @below {{height}}
  %y = pdg.sum_pool2d_grad %g picture [6, 8] window [2, 2] stride [2, 2] padding [0, 0, 0, 0]
      : tensor<2x3x4x4xf32>
  pdg.yield
}
