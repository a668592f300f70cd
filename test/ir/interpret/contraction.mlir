// Contractions are chains of fused multiply-adds; only a summed axis 0 of both operands has leaves.
// RUN: %pdc run --interpret %s | FileCheck %s
// RUN: %pdc run %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  // CHECK: product f32[2, 2]
  // CHECK-NEXT: [19.0, 22.0]
  // CHECK-NEXT: [43.0, 50.0]
  %a = pdg.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = pdg.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %ab = pdg.contract "ik,kj->ij" %a, %b : tensor<2x2xf32>, tensor<2x2xf32>
  pdg.print ["product ", ""] [#pdg.format<>] (%ab : tensor<2x2xf32>)

  // x = 1 + 2^-12: x * x - (1 + 2^-11) is 2^-24 if the product is not rounded before the sum.
  // CHECK: fused f32[1] [5.9604645e-08]
  %l = pdg.constant dense<[[-1.00048828125, 1.000244140625]]> : tensor<1x2xf32>
  %r = pdg.constant dense<[1.0, 1.000244140625]> : tensor<2xf32>
  %fused = pdg.contract "ik,k->i" %l, %r : tensor<1x2xf32>, tensor<2xf32>
  pdg.print ["fused ", ""] [#pdg.format<>] (%fused : tensor<1xf32>)

  // 1e8 and 31 ones: with two leaves of 16 the second keeps its ones.
  // CHECK: leaves 100000016.0
  // CHECK: chain 100000000.0
  %big = pdg.constant dense<1.0e8> : tensor<1xf32>
  %one = pdg.constant dense<1.0> : tensor<f32>
  %rest = pdg.broadcast %one to [31] : tensor<f32>
  %x = pdg.concat %big, %rest axis 0 : tensor<1xf32>, tensor<31xf32>
  %ones = pdg.broadcast %one to [32] : tensor<f32>
  %leaves = pdg.contract "k,k->" %x, %ones leaves : tensor<32xf32>, tensor<32xf32>
  %chain = pdg.contract "k,k->" %x, %ones : tensor<32xf32>, tensor<32xf32>
  pdg.print ["leaves ", ""] [#pdg.format<precision = 1>] (%leaves : tensor<f32>)
  pdg.print ["chain ", ""] [#pdg.format<>] (%chain : tensor<f32>)
  pdg.yield
}
