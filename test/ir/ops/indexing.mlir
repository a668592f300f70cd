// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %table = pdg.input "table" : tensor<10x4xf32>
  %ids = pdg.input "ids" : tensor<2x3xi32>
  // CHECK: %[[ROWS:.*]] = pdg.gather %{{.*}}, %{{.*}} : tensor<10x4xf32>, tensor<2x3xi32>
  %rows = pdg.gather %table, %ids : tensor<10x4xf32>, tensor<2x3xi32>
  // CHECK: pdg.scatter_add %[[ROWS]] at %{{.*}} into 10 : tensor<2x3xi32>, tensor<2x3x4xf32>
  %sums = pdg.scatter_add %rows at %ids into 10 : tensor<2x3xi32>, tensor<2x3x4xf32>
  // CHECK: fetch "sums", %{{.*}} : tensor<10x4xf32>
  pdg.fetch "sums", %sums : tensor<10x4xf32>
  // CHECK: pdg.pick %{{.*}}, %{{.*}} : tensor<2x3x4xf32>, tensor<2x3xi32>
  %picked = pdg.pick %rows, %ids : tensor<2x3x4xf32>, tensor<2x3xi32>
  // CHECK: fetch "picked", %{{.*}} : tensor<2x3xf32>
  pdg.fetch "picked", %picked : tensor<2x3xf32>
  pdg.yield
}
