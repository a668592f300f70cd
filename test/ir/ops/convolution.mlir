// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<8x3x28x28xf32>
  %w = pdg.input "w" : tensor<4x3x5x5xf32>
  // CHECK: %[[Y:.*]] = pdg.conv2d %{{.*}}, %{{.*}} stride [1, 2] padding [0, 2]
  %y = pdg.conv2d %x, %w stride [1, 2] padding [0, 2]
      : tensor<8x3x28x28xf32>, tensor<4x3x5x5xf32>
  // CHECK: pdg.conv2d_input_grad %[[Y]], %{{.*}} like %{{.*}} stride [1, 2] padding [0, 2]
  %gx = pdg.conv2d_input_grad %y, %w like %x stride [1, 2] padding [0, 2]
      : tensor<8x4x24x14xf32>, tensor<4x3x5x5xf32>, tensor<8x3x28x28xf32>
  // CHECK: fetch "gx", %{{.*}} : tensor<8x3x28x28xf32>
  pdg.fetch "gx", %gx : tensor<8x3x28x28xf32>
  // CHECK: pdg.conv2d_weight_grad %{{.*}}, %[[Y]] like %{{.*}} stride [1, 2] padding [0, 2]
  %gw = pdg.conv2d_weight_grad %x, %y like %w stride [1, 2] padding [0, 2]
      : tensor<8x3x28x28xf32>, tensor<8x4x24x14xf32>, tensor<4x3x5x5xf32>
  // CHECK: fetch "gw", %{{.*}} : tensor<4x3x5x5xf32>
  pdg.fetch "gw", %gw : tensor<4x3x5x5xf32>
  // CHECK: %[[P:.*]] = pdg.max_pool2d %[[Y]] window [2, 2] stride [2, 2] padding [0, 0]
  %p = pdg.max_pool2d %y window [2, 2] stride [2, 2] padding [0, 0] : tensor<8x4x24x14xf32>
  // CHECK: pdg.max_pool2d_grad %[[P]], %[[Y]] window [2, 2] stride [2, 2] padding [0, 0]
  %gp = pdg.max_pool2d_grad %p, %y window [2, 2] stride [2, 2] padding [0, 0]
      : tensor<8x4x12x7xf32>, tensor<8x4x24x14xf32>
  // CHECK: fetch "gp", %{{.*}} : tensor<8x4x24x14xf32>
  pdg.fetch "gp", %gp : tensor<8x4x24x14xf32>
  pdg.yield
}
