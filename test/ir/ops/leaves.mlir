// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<64x3xf32>
  %y = pdg.input "y" : tensor<64x5xf32>
  %ids = pdg.input "ids" : tensor<64xi64>
  %products = pdg.input "products" : tensor<4x3x5xf32>
  %once = pdg.input "once" : tensor<1x64x64xf32>
  %sums = pdg.input "sums" : tensor<16x3xf32>
  %tables = pdg.input "tables" : tensor<2x7x3xf32>
  // CHECK: pdg.contract_leaves "nk,nj->kj" %{{.*}}, %{{.*}} cut onto %{{.*}} : tensor<64x3xf32>, tensor<64x5xf32>, tensor<4x3x5xf32>
  %a = pdg.contract_leaves "nk,nj->kj" %x, %y cut onto %products
      : tensor<64x3xf32>, tensor<64x5xf32>, tensor<4x3x5xf32>
  // CHECK: pdg.contract_leaves "nk,mk->nm" %{{.*}}, %{{.*}} onto
  %b = pdg.contract_leaves "nk,mk->nm" %x, %x onto %once
      : tensor<64x3xf32>, tensor<64x3xf32>, tensor<1x64x64xf32>
  // CHECK: pdg.sum_leaves %{{.*}} onto %{{.*}} : tensor<64x3xf32>, tensor<16x3xf32>
  %c = pdg.sum_leaves %x onto %sums : tensor<64x3xf32>, tensor<16x3xf32>
  // CHECK: pdg.scatter_leaves %{{.*}} at %{{.*}} onto %{{.*}} : tensor<64xi64>, tensor<64x3xf32>, tensor<2x7x3xf32>
  %d = pdg.scatter_leaves %x at %ids onto %tables
      : tensor<64xi64>, tensor<64x3xf32>, tensor<2x7x3xf32>
  %at = pdg.input "at" : tensor<i64>
  // CHECK: %[[ROW:.*]] = pdg.take_row %{{.*}} at %{{.*}} axis 1 : tensor<2x7x3xf32>, tensor<i64>
  %e = pdg.take_row %tables at %at axis 1 : tensor<2x7x3xf32>, tensor<i64>
  // CHECK: pdg.put_slice %{{.*}}, %{{.*}} at %{{.*}} axis 2 step 2 : tensor<2x7x3xf32>, tensor<2x7x2xf32>
  %part = pdg.input "part" : tensor<2x7x2xf32>
  %f = pdg.put_slice %tables, %part at %at axis 2 step 2 : tensor<2x7x3xf32>, tensor<2x7x2xf32>
  // CHECK: %[[J:.*]] = pdg.join_leaves %{{.*}} : tensor<4x3x5xf32>
  %j = pdg.join_leaves %a : tensor<4x3x5xf32>
  // CHECK: fetch "j", %[[J]] : tensor<3x5xf32>
  pdg.fetch "j", %j : tensor<3x5xf32>
  pdg.fetch "b", %b : tensor<1x64x64xf32>
  pdg.fetch "c", %c : tensor<16x3xf32>
  pdg.fetch "d", %d : tensor<2x7x3xf32>
  pdg.fetch "e", %e : tensor<2x3xf32>
  pdg.fetch "f", %f : tensor<2x7x3xf32>
  pdg.yield
}
