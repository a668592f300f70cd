// The index rule gives the sizes of the result.
// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %a = pdg.input "a" : tensor<5x2x3xf32>
  %b = pdg.input "b" : tensor<5x3x4xf32>
  // CHECK: pdg.contract "bik,bkj->bij" %{{.*}}, %{{.*}} : tensor<5x2x3xf32>, tensor<5x3x4xf32>
  %c = pdg.contract "bik,bkj->bij" %a, %b : tensor<5x2x3xf32>, tensor<5x3x4xf32>
  // CHECK: fetch "c", %{{.*}} : tensor<5x2x4xf32>
  pdg.fetch "c", %c : tensor<5x2x4xf32>
  // CHECK: pdg.contract "nik,nkj->ij" %{{.*}}, %{{.*}} leaves
  %d = pdg.contract "nik,nkj->ij" %a, %b leaves : tensor<5x2x3xf32>, tensor<5x3x4xf32>
  // CHECK: fetch "d", %{{.*}} : tensor<2x4xf32>
  pdg.fetch "d", %d : tensor<2x4xf32>
  pdg.yield
}
