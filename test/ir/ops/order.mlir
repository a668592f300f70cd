// Ops that walk an axis in order.
// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<4x3xf32>
  %ids = pdg.input "ids" : tensor<2x3xi64>
  // CHECK: pdg.cumsum %{{.*}} axis 1 : tensor<4x3xf32>
  %a = pdg.cumsum %x axis 1 : tensor<4x3xf32>
  // CHECK: pdg.cumprod %{{.*}} axis 0 exclusive reverse : tensor<4x3xf32>
  %b = pdg.cumprod %a axis 0 exclusive reverse : tensor<4x3xf32>
  // CHECK: pdg.linear_scan %{{.*}}, %{{.*}} axis 0 reverse : tensor<4x3xf32>, tensor<4x3xf32>
  %c = pdg.linear_scan %a, %b axis 0 reverse : tensor<4x3xf32>, tensor<4x3xf32>
  // CHECK: pdg.argsort %{{.*}} axis 1 descending : tensor<4x3xf32>
  %d = pdg.argsort %c axis 1 descending : tensor<4x3xf32>
  // CHECK: pdg.take_along %{{.*}}, %{{.*}} axis 0 : tensor<4x3xf32>, tensor<2x3xi64>
  %e = pdg.take_along %x, %ids axis 0 : tensor<4x3xf32>, tensor<2x3xi64>
  // CHECK: pdg.put_along %{{.*}}, %{{.*}}, %{{.*}} axis 0 : tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>
  %f = pdg.put_along %x, %ids, %e axis 0 : tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>
  // CHECK: pdg.add_along %{{.*}}, %{{.*}}, %{{.*}} axis 0 : tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>
  %g = pdg.add_along %f, %ids, %e axis 0 : tensor<4x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>
  // CHECK: fetch "d", %{{.*}} : tensor<4x3xi64>
  pdg.fetch "d", %d : tensor<4x3xi64>
  // CHECK: fetch "g", %{{.*}} : tensor<4x3xf32>
  pdg.fetch "g", %g : tensor<4x3xf32>
  pdg.yield
}
