// Programs, loops, conditions, variables, sources, texts.
// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

// CHECK: pdg.variable <"net.W"> : tensor<2xf32> param {
pdg.variable <"net.W"> : tensor<2xf32> param {
  %x = pdg.constant dense<1.0> : tensor<2xf32>
  pdg.yield %x : tensor<2xf32>
}
// CHECK: pdg.variable <"net.W", state = "adam.m"> : tensor<2xf32> {
pdg.variable <"net.W", state = "adam.m"> : tensor<2xf32> {
  %x = pdg.constant dense<0.0> : tensor<2xf32>
  pdg.yield %x : tensor<2xf32>
}
// CHECK: pdg.source @train "csv" ["a.csv"] batch 4 shuffle : [tensor<3xf32>, tensor<f32>]
pdg.source @train "csv" ["a.csv"] batch 4 shuffle : [tensor<3xf32>, tensor<f32>] {seed = 7 : i64}

// CHECK: pdg.program {
pdg.program {
  // CHECK: %[[W:.*]] = pdg.read <"net.W"> : tensor<2xf32>
  %w = pdg.read <"net.W"> : tensor<2xf32>
  // CHECK: %[[N:.*]] = pdg.source_size @train
  %n = pdg.source_size @train
  %zero = pdg.constant dense<0> : tensor<i64>
  // CHECK: pdg.for_each @train carry(%[[W]] : tensor<2xf32>) -> tensor<2xf32> {
  %last = pdg.for_each @train carry (%w : tensor<2xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<?x3xf32>, %{{.*}}: tensor<?xf32>, %[[C:.*]]: tensor<2xf32>):
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>, %y: tensor<?xf32>, %c: tensor<2xf32>):
    %less = pdg.lt %step, %n : tensor<i64>, tensor<i64>
    // CHECK: pdg.for %{{.*}} to %[[N]] max 12 {
    pdg.for %zero to %n max 12 {
    ^bb0(%i: tensor<i64>):
      pdg.assign <"net.W", state = "adam.m">, %c : tensor<2xf32>
      // CHECK: pdg.yield while %[[LESS:.*]]{{$}}
      pdg.yield while %less
    }
    // CHECK: pdg.if %{{.*}} -> tensor<2xf32> {
    %next = pdg.if %less -> tensor<2xf32> {
      pdg.yield %c : tensor<2xf32>
    // CHECK: } else {
    } else {
      pdg.yield %w : tensor<2xf32>
    }
    // CHECK: pdg.yield %{{.*}} : tensor<2xf32> while %[[LESS]]{{$}}
    pdg.yield %next : tensor<2xf32> while %less
  }
  // A text without values is not taken for one with the next op's result.
  // CHECK: pdg.print ["end"] []
  // CHECK: %[[T:.*]] = pdg.neg
  pdg.print ["end"] []
  %negative = pdg.neg %last : tensor<2xf32>
  // CHECK: pdg.print ["last ", ""] [#pdg.format<width = 8, precision = 4, significant = true>](%[[T]]
  pdg.print ["last ", ""] [#pdg.format<width = 8, precision = 4, significant = true>]
      (%negative : tensor<2xf32>)
  pdg.yield
}
