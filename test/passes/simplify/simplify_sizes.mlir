// RUN: %pdc-opt --pdg-simplify-sizes %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

pdg.source @train "csv" ["a.csv"] batch 4 : [tensor<3xf32>, tensor<f32>]

// CHECK-LABEL: pdg.program
pdg.program {
  pdg.for_each @train {
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[X:.*]]: tensor<?x3xf32>
  ^bb0(%step: tensor<i64>, %x: tensor<?x3xf32>, %y: tensor<?xf32>):
    %e = pdg.exp %x : tensor<?x3xf32>
    // The batch, asked of the field.
    // CHECK: pdg.dim %[[X]] axis 0
    %n = pdg.dim %e axis 0 : tensor<?x3xf32>
    // A size that is known.
    // CHECK: pdg.constant dense<3>
    %k = pdg.dim %e axis 1 : tensor<?x3xf32>
    pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%n, %k : tensor<i64>, tensor<i64>)
  }
  pdg.yield
}
