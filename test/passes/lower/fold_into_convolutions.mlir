// RUN: %pdc-opt %s --pdg-fold-into-convolutions | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

// CHECK-LABEL: pdg.program
pdg.program {
  %x = pdg.input "x" : tensor<8x1x6x6xf32>
  %w = pdg.input "w" : tensor<4x1x3x3xf32>
  %b = pdg.input "b" : tensor<4xf32>
  %r = pdg.reshape %b to [4, 1, 1] : tensor<4xf32>
  %s = pdg.broadcast %r to [8, 4, 4, 4] : tensor<4x1x1xf32>

  // Both steps.
  // CHECK: %[[Y:.*]] = pdg.conv2d %{{.*}}, %{{.*}} bias %{{.*}} relu stride [1, 1]
  // CHECK-NEXT: pdg.fetch "y", %[[Y]]
  %c = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
      : tensor<8x1x6x6xf32>, tensor<4x1x3x3xf32>
  %a = pdg.add %s, %c : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>
  %y = pdg.relu %a : tensor<8x4x4x4xf32>
  pdg.fetch "y", %y : tensor<8x4x4x4xf32>

  // The sum has two users: the relu stays.
  // CHECK: %[[S:.*]] = pdg.conv2d %{{.*}}, %{{.*}} bias %{{.*}} stride [2, 2]
  // CHECK-NEXT: %[[R:.*]] = pdg.relu %[[S]]
  %c2 = pdg.conv2d %x, %w stride [2, 2] padding [2, 1, 1, 2] dilation [1, 1] groups 1
      : tensor<8x1x6x6xf32>, tensor<4x1x3x3xf32>
  %a2 = pdg.add %c2, %s : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>
  %y2 = pdg.relu %a2 : tensor<8x4x4x4xf32>
  pdg.fetch "a2", %a2 : tensor<8x4x4x4xf32>
  pdg.fetch "y2", %y2 : tensor<8x4x4x4xf32>

  // A number for each column is no bias.
  // CHECK: pdg.conv2d %{{.*}}, %{{.*}} stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1 :
  // CHECK: pdg.add
  %row = pdg.broadcast %b to [8, 4, 4, 4] : tensor<4xf32>
  %c3 = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
      : tensor<8x1x6x6xf32>, tensor<4x1x3x3xf32>
  %a3 = pdg.add %c3, %row : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>
  pdg.fetch "a3", %a3 : tensor<8x4x4x4xf32>

  // Whether the channels fit is known to the run only: a mistake is reported where it was.
  // CHECK: pdg.conv2d %{{.*}}, %{{.*}} stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1 :
  // CHECK: pdg.add
  %some = pdg.input "some" : tensor<8x?x6x6xf32>
  %c4 = pdg.conv2d %some, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
      : tensor<8x?x6x6xf32>, tensor<4x1x3x3xf32>
  %a4 = pdg.add %c4, %s : tensor<8x4x4x4xf32>, tensor<8x4x4x4xf32>
  pdg.fetch "a4", %a4 : tensor<8x4x4x4xf32>
  pdg.yield
}
