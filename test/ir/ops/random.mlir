// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  // CHECK: %[[S:.*]] = pdg.seed
  %seed = pdg.seed
  // CHECK: pdg.random_uniform "net.W" seed %[[S]] f32 to [4, 5]
  %u = pdg.random_uniform "net.W" seed %seed f32 to [4, 5]
  // CHECK: fetch "u", %{{.*}} : tensor<4x5xf32>
  pdg.fetch "u", %u : tensor<4x5xf32>
  // CHECK: pdg.random_normal "drop" seed %[[S]] counters(%[[S]], %[[S]]) f64 to [%[[S]]]
  %n = pdg.random_normal "drop" seed %seed counters (%seed, %seed) f64 to [%seed]
  pdg.fetch "n", %n : tensor<?xf64>
  pdg.yield
}
