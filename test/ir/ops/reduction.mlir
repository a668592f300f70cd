// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<4x5xf32>
  // CHECK: pdg.sum %{{.*}} axis 0 : tensor<4x5xf32>
  %sum = pdg.sum %x axis 0 : tensor<4x5xf32>
  // CHECK: pdg.reduce_max %{{.*}} axis 1 : tensor<4x5xf32>
  %max = pdg.reduce_max %x axis 1 : tensor<4x5xf32>
  // CHECK: pdg.argmin %{{.*}} axis 1 : tensor<4x5xf32>
  %at = pdg.argmin %x axis 1 : tensor<4x5xf32>
  // CHECK: tensor<5xf32>
  pdg.fetch "sum", %sum : tensor<5xf32>
  // CHECK: tensor<4xf32>
  pdg.fetch "max", %max : tensor<4xf32>
  // CHECK: tensor<4xi64>
  pdg.fetch "at", %at : tensor<4xi64>
  pdg.yield
}
