// Ops that move elements, and ops with a shape among their arguments.
// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<2x3x4xf32>
  %n = pdg.seed
  // CHECK: pdg.transpose %{{.*}} [2, 0, 1] : tensor<2x3x4xf32>
  %t = pdg.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  // CHECK: pdg.slice %{{.*}} axis 1 from 1 size -1 : tensor<4x2x3xf32>
  %s = pdg.slice %t axis 1 from 1 size -1 : tensor<4x2x3xf32>
  // CHECK: pdg.pad %{{.*}} axis 0 before 1 after 2 : tensor<4x1x3xf32>
  %p = pdg.pad %s axis 0 before 1 after 2 : tensor<4x1x3xf32>
  // CHECK: pdg.concat %{{.*}}, %{{.*}} axis 0 : tensor<7x1x3xf32>, tensor<4x1x3xf32>
  %c = pdg.concat %p, %s axis 0 : tensor<7x1x3xf32>, tensor<4x1x3xf32>
  // CHECK: fetch "c", %{{.*}} : tensor<11x1x3xf32>
  pdg.fetch "c", %c : tensor<11x1x3xf32>
  // CHECK: %[[R:.*]] = pdg.reshape %{{.*}} to [%{{.*}}, 3] : tensor<11x1x3xf32>
  %r = pdg.reshape %c to [%n, 3] : tensor<11x1x3xf32>
  // CHECK: pdg.broadcast %[[R]] to [2, %{{.*}}, 3] : tensor<?x3xf32>
  %b = pdg.broadcast %r to [2, %n, 3] : tensor<?x3xf32>
  // CHECK: fetch "b", %{{.*}} : tensor<2x?x3xf32>
  pdg.fetch "b", %b : tensor<2x?x3xf32>
  // CHECK: pdg.iota i64 axis 0 to [%{{.*}}]
  %i = pdg.iota i64 axis 0 to [%n]
  // CHECK: pdg.dim %{{.*}} axis 0 : tensor<?xi64>
  %d = pdg.dim %i axis 0 : tensor<?xi64>
  pdg.fetch "d", %d : tensor<i64>
  // CHECK: pdg.slice %{{.*}} axis 2 from 1 size -1 step 2 : tensor<2x3x4xf32>
  %s2 = pdg.slice %x axis 2 from 1 size -1 step 2 : tensor<2x3x4xf32>
  // CHECK: pdg.pad %{{.*}} axis 2 before 0 after 1 step 3 : tensor<2x3x2xf32>
  %p3 = pdg.pad %s2 axis 2 before 0 after 1 step 3 : tensor<2x3x2xf32>
  // CHECK: fetch "p3", %{{.*}} : tensor<2x3x5xf32>
  pdg.fetch "p3", %p3 : tensor<2x3x5xf32>
  // CHECK: pdg.flip %{{.*}} axis 1 : tensor<2x3x4xf32>
  %f = pdg.flip %x axis 1 : tensor<2x3x4xf32>
  pdg.fetch "f", %f : tensor<2x3x4xf32>
  pdg.yield
}
