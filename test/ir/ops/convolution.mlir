// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<8x4x28x28xf32>
  %w = pdg.input "w" : tensor<6x2x5x5xf32>
  %b = pdg.input "b" : tensor<6xf32>
  // CHECK: %[[Y:.*]] = pdg.conv2d %{{.*}}, %{{.*}} stride [1, 2] padding [0, 2, 1, 2] dilation [1, 2] groups 2
  %y = pdg.conv2d %x, %w stride [1, 2] padding [0, 2, 1, 2] dilation [1, 2] groups 2
      : tensor<8x4x28x28xf32>, tensor<6x2x5x5xf32>
  // CHECK: pdg.conv2d %{{.*}}, %{{.*}} bias %{{.*}} relu stride [1, 1]
  %z = pdg.conv2d %x, %w bias %b relu stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 2
      : tensor<8x4x28x28xf32>, tensor<6x2x5x5xf32>, tensor<6xf32>
  // CHECK: fetch "z", %{{.*}} : tensor<8x6x24x24xf32>
  pdg.fetch "z", %z : tensor<8x6x24x24xf32>
  // CHECK: pdg.conv2d_input_grad %[[Y]], %{{.*}} picture [28, 28] stride [1, 2] padding [0, 2, 1, 2] dilation [1, 2] groups 2
  %gx = pdg.conv2d_input_grad %y, %w picture [28, 28] stride [1, 2] padding [0, 2, 1, 2]
      dilation [1, 2] groups 2 : tensor<8x6x26x12xf32>, tensor<6x2x5x5xf32>
  // CHECK: fetch "gx", %{{.*}} : tensor<8x4x28x28xf32>
  pdg.fetch "gx", %gx : tensor<8x4x28x28xf32>
  // CHECK: pdg.conv2d_weight_grad %{{.*}}, %[[Y]] window [5, 5] stride [1, 2] padding [0, 2, 1, 2] dilation [1, 2] groups 2
  %gw = pdg.conv2d_weight_grad %x, %y window [5, 5] stride [1, 2] padding [0, 2, 1, 2]
      dilation [1, 2] groups 2 : tensor<8x4x28x28xf32>, tensor<8x6x26x12xf32>
  // CHECK: fetch "gw", %{{.*}} : tensor<6x2x5x5xf32>
  pdg.fetch "gw", %gw : tensor<6x2x5x5xf32>
  // CHECK: %[[P:.*]] = pdg.max_pool2d %[[Y]] window [2, 2] stride [2, 2] padding [0, 0, 0, 1]
  %p = pdg.max_pool2d %y window [2, 2] stride [2, 2] padding [0, 0, 0, 1] : tensor<8x6x26x12xf32>
  // CHECK: pdg.max_pool2d_grad %[[P]], %[[Y]] window [2, 2] stride [2, 2] padding [0, 0, 0, 1]
  %gp = pdg.max_pool2d_grad %p, %y window [2, 2] stride [2, 2] padding [0, 0, 0, 1]
      : tensor<8x6x13x6xf32>, tensor<8x6x26x12xf32>
  // CHECK: pdg.max_pool2d_at %[[Y]], %{{.*}} window [2, 2]
  %at = pdg.max_pool2d_at %y, %gp window [2, 2] stride [2, 2] padding [0, 0, 0, 1]
      : tensor<8x6x26x12xf32>, tensor<8x6x26x12xf32>
  // CHECK: fetch "at", %{{.*}} : tensor<8x6x13x6xf32>
  pdg.fetch "at", %at : tensor<8x6x13x6xf32>
  // CHECK: %[[S:.*]] = pdg.sum_pool2d %[[Y]] window [3, 2] stride [1, 2] padding [1, 1, 0, 0]
  %s = pdg.sum_pool2d %y window [3, 2] stride [1, 2] padding [1, 1, 0, 0] : tensor<8x6x26x12xf32>
  // CHECK: pdg.sum_pool2d_grad %[[S]] picture [26, 12] window [3, 2] stride [1, 2] padding [1, 1, 0, 0]
  %gs = pdg.sum_pool2d_grad %s picture [26, 12] window [3, 2] stride [1, 2] padding [1, 1, 0, 0]
      : tensor<8x6x26x6xf32>
  // CHECK: fetch "gs", %{{.*}} : tensor<8x6x26x12xf32>
  pdg.fetch "gs", %gs : tensor<8x6x26x12xf32>
  pdg.yield
}
