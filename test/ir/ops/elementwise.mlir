// Element-wise ops, comparisons, select and casts read what they print and infer their result.
// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

// CHECK-LABEL: pdg.program
pdg.program {
  %x = pdg.input "x" : tensor<2x3xf32>
  %i = pdg.input "i" : tensor<2x3xi32>
  // CHECK: %[[N:.*]] = pdg.neg %{{.*}} : tensor<2x3xf32>
  %neg = pdg.neg %x : tensor<2x3xf32>
  // CHECK: pdg.add %[[N]], %{{.*}} : tensor<2x3xf32>, tensor<2x3xf32>
  %add = pdg.add %neg, %x : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: pdg.floordiv %{{.*}}, %{{.*}} : tensor<2x3xi32>, tensor<2x3xi32>
  %div = pdg.floordiv %i, %i : tensor<2x3xi32>, tensor<2x3xi32>
  // CHECK: %[[C:.*]] = pdg.lt
  %less = pdg.lt %x, %add : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: pdg.select %[[C]], %{{.*}}, %[[N]] : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
  %chosen = pdg.select %less, %x, %neg : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: pdg.cast %{{.*}} to ui8 : tensor<2x3xf32>
  %bytes = pdg.cast %chosen to ui8 : tensor<2x3xf32>
  pdg.fetch "bytes", %bytes : tensor<2x3xui8>
  pdg.fetch "div", %div : tensor<2x3xi32>
  pdg.yield
}
