// Ops that move nothing vanish.
// RUN: %pdc-opt --canonicalize %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  // CHECK: %[[X:.*]] = pdg.input "x"
  %x = pdg.input "x" : tensor<4x3xf32>
  %a = pdg.slice %x axis 0 from 0 size 4 : tensor<4x3xf32>
  %b = pdg.slice %a axis 1 from 0 size -1 : tensor<4x3xf32>
  %c = pdg.pad %b axis 0 before 0 after 0 : tensor<4x3xf32>
  %d = pdg.flip %c axis 0 : tensor<4x3xf32>
  %e = pdg.flip %d axis 0 : tensor<4x3xf32>
  %f = pdg.transpose %e [0, 1] : tensor<4x3xf32>
  // CHECK-NEXT: pdg.fetch "x", %[[X]]
  pdg.fetch "x", %f : tensor<4x3xf32>
  // CHECK: pdg.flip %[[X]] axis 1
  %g = pdg.flip %x axis 1 : tensor<4x3xf32>
  pdg.fetch "g", %g : tensor<4x3xf32>
  pdg.yield
}
