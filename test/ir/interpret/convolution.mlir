// Convolutions, pooling, and their gradients on pictures that fit on a hand.
// RUN: %pdc run --interpret %s | FileCheck %s
// RUN: %pdc run %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]>
      : tensor<1x1x3x3xf32>
  %w = pdg.constant dense<[[[[1.0, 0.0], [0.0, 10.0]]]]> : tensor<1x1x2x2xf32>
  // CHECK: conv f32[4] [51.0, 62.0, 84.0, 95.0]
  %conv = pdg.conv2d %x, %w stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 1
      : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>
  %conv4 = pdg.reshape %conv to [4] : tensor<1x1x2x2xf32>
  pdg.print ["conv ", ""] [#pdg.format<>] (%conv4 : tensor<4xf32>)

  // CHECK: stride and padding f32[4] [10.0, 30.0, 70.0, 95.0]
  %wide = pdg.conv2d %x, %w stride [2, 2] padding [1, 1, 1, 1] dilation [1, 1] groups 1
      : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>
  %wide4 = pdg.reshape %wide to [4] : tensor<1x1x2x2xf32>
  pdg.print ["stride and padding ", ""] [#pdg.format<>] (%wide4 : tensor<4xf32>)

  // CHECK: input gradient f32[9] [1.0, 1.0, 0.0, 1.0, 11.0, 10.0, 0.0, 10.0, 10.0]
  %one = pdg.constant dense<1.0> : tensor<f32>
  %g = pdg.broadcast %one to [1, 1, 2, 2] : tensor<f32>
  %gx = pdg.conv2d_input_grad %g, %w picture [3, 3] stride [1, 1] padding [0, 0, 0, 0]
      dilation [1, 1] groups 1 : tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>
  %gx9 = pdg.reshape %gx to [9] : tensor<1x1x3x3xf32>
  pdg.print ["input gradient ", ""] [#pdg.format<>] (%gx9 : tensor<9xf32>)

  // CHECK: weight gradient f32[4] [12.0, 16.0, 24.0, 28.0]
  %gw = pdg.conv2d_weight_grad %x, %g window [2, 2] stride [1, 1] padding [0, 0, 0, 0]
      dilation [1, 1] groups 1
      : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>
  %gw4 = pdg.reshape %gw to [4] : tensor<1x1x2x2xf32>
  pdg.print ["weight gradient ", ""] [#pdg.format<>] (%gw4 : tensor<4xf32>)

  // Below and to the right only; the window's elements are two apart; then bias and relu.
  // CHECK: sides and dilation f32[4] [81.0, 0.0, 0.0, 0.0]
  %bias = pdg.constant dense<-10.0> : tensor<1xf32>
  %far = pdg.conv2d %x, %w bias %bias relu stride [1, 1] padding [0, 1, 0, 1] dilation [2, 2]
      groups 1 : tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1xf32>
  %far4 = pdg.reshape %far to [4] : tensor<1x1x2x2xf32>
  pdg.print ["sides and dilation ", ""] [#pdg.format<>] (%far4 : tensor<4xf32>)

  // Each filter sees one channel.
  // CHECK: groups f32[2] [3.0, 70.0]
  %two = pdg.constant dense<[[[[1.0]], [[7.0]]]]> : tensor<1x2x1x1xf32>
  %each = pdg.constant dense<[[[[3.0]]], [[[10.0]]]]> : tensor<2x1x1x1xf32>
  %apart = pdg.conv2d %two, %each stride [1, 1] padding [0, 0, 0, 0] dilation [1, 1] groups 2
      : tensor<1x2x1x1xf32>, tensor<2x1x1x1xf32>
  %apart2 = pdg.reshape %apart to [2] : tensor<1x2x1x1xf32>
  pdg.print ["groups ", ""] [#pdg.format<>] (%apart2 : tensor<2xf32>)

  // Padding never wins, though all elements are below zero; NaN does.
  // CHECK: pool f32[4] [-1.0, -2.0, -4.0, nan]
  %low = pdg.constant dense<[[[[-1.0, -2.0, -3.0], [-4.0, -5.0, -6.0], [-7.0, -8.0, 0x7FC00000]]]]>
      : tensor<1x1x3x3xf32>
  %pool = pdg.max_pool2d %low window [2, 2] stride [2, 2] padding [1, 1, 1, 1] : tensor<1x1x3x3xf32>
  %pool4 = pdg.reshape %pool to [4] : tensor<1x1x2x2xf32>
  pdg.print ["pool ", ""] [#pdg.format<>] (%pool4 : tensor<4xf32>)

  // All windows overlap in the middle, which is the largest of each.
  // CHECK: pool gradient f32[9] [0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0]
  %peak = pdg.constant dense<[[[[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]]]]>
      : tensor<1x1x3x3xf32>
  %gp = pdg.max_pool2d_grad %g, %peak window [2, 2] stride [1, 1] padding [0, 0, 0, 0]
      : tensor<1x1x2x2xf32>, tensor<1x1x3x3xf32>
  %gp9 = pdg.reshape %gp to [9] : tensor<1x1x3x3xf32>
  pdg.print ["pool gradient ", ""] [#pdg.format<>] (%gp9 : tensor<9xf32>)

  // The places of the largest elements of %x, in the negative of %x.
  // CHECK: at f32[4] [-5.0, -6.0, -8.0, -9.0]
  %minus = pdg.neg %x : tensor<1x1x3x3xf32>
  %at = pdg.max_pool2d_at %x, %minus window [2, 2] stride [1, 1] padding [0, 0, 0, 0]
      : tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>
  %at4 = pdg.reshape %at to [4] : tensor<1x1x2x2xf32>
  pdg.print ["at ", ""] [#pdg.format<>] (%at4 : tensor<4xf32>)

  // CHECK: sums f32[4] [1.0, 5.0, 11.0, 28.0]
  %sums = pdg.sum_pool2d %x window [2, 2] stride [2, 2] padding [1, 1, 1, 1]
      : tensor<1x1x3x3xf32>
  %sums4 = pdg.reshape %sums to [4] : tensor<1x1x2x2xf32>
  pdg.print ["sums ", ""] [#pdg.format<>] (%sums4 : tensor<4xf32>)

  // CHECK: sum gradient f32[9] [1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]
  %gs = pdg.sum_pool2d_grad %g picture [3, 3] window [2, 2] stride [1, 1] padding [0, 0, 0, 0]
      : tensor<1x1x2x2xf32>
  %gs9 = pdg.reshape %gs to [9] : tensor<1x1x3x3xf32>
  pdg.print ["sum gradient ", ""] [#pdg.format<>] (%gs9 : tensor<9xf32>)
  pdg.yield
}
