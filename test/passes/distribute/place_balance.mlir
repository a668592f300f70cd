// R8: large and small variables in turn, as weights and biases are declared, do not pile up on one
// server when the number of servers is even.
// RUN: %pdc-opt --pdg-place-variables --split-input-file %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  // CHECK: pdg.variable <"w0">
  // CHECK: } {pdg.home = #pdg.role<server>,
  pdg.variable <"w0"> : tensor<1024xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<1024xf32>
    pdg.yield %0 : tensor<1024xf32>
  }
  // CHECK: pdg.variable <"b0">
  // CHECK: } {pdg.home = #pdg.role<server>,
  pdg.variable <"b0"> : tensor<2xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<2xf32>
    pdg.yield %0 : tensor<2xf32>
  }
  // CHECK: pdg.variable <"w1">
  // CHECK: } {pdg.home = #pdg.role<server, 1>,
  pdg.variable <"w1"> : tensor<1024xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<1024xf32>
    pdg.yield %0 : tensor<1024xf32>
  }
  // CHECK: pdg.variable <"b1">
  // CHECK: } {pdg.home = #pdg.role<server, 1>,
  pdg.variable <"b1"> : tensor<2xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<2xf32>
    pdg.yield %0 : tensor<2xf32>
  }
  // CHECK: pdg.variable <"w2">
  // CHECK: } {pdg.home = #pdg.role<server>,
  pdg.variable <"w2"> : tensor<1024xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<1024xf32>
    pdg.yield %0 : tensor<1024xf32>
  }
  // CHECK: pdg.variable <"b2">
  // CHECK: } {pdg.home = #pdg.role<server>,
  pdg.variable <"b2"> : tensor<2xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<2xf32>
    pdg.yield %0 : tensor<2xf32>
  }
  // CHECK: pdg.variable <"w3">
  // CHECK: } {pdg.home = #pdg.role<server, 1>,
  pdg.variable <"w3"> : tensor<1024xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<1024xf32>
    pdg.yield %0 : tensor<1024xf32>
  }
  // CHECK: pdg.variable <"b3">
  // CHECK: } {pdg.home = #pdg.role<server, 1>,
  pdg.variable <"b3"> : tensor<2xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<2xf32>
    pdg.yield %0 : tensor<2xf32>
  }
  pdg.program {
    pdg.yield
  }
}

// -----

// Slices of a variable are on different servers even if one server has little to do.
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  // CHECK: pdg.variable <"large">
  // CHECK: } {pdg.home = #pdg.role<server, 1>,
  pdg.variable <"large"> : tensor<1024xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<1024xf32>
    pdg.yield %0 : tensor<1024xf32>
  } {pdg.on = "server1"}
  // CHECK: pdg.variable <"w", slice = [0, 4]>
  // CHECK: } {pdg.home = #pdg.role<server>,
  pdg.variable <"w", slice = [0, 4]> : tensor<4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  }
  // CHECK: pdg.variable <"w", slice = [4, 8]>
  // CHECK: } {pdg.home = #pdg.role<server, 1>,
  pdg.variable <"w", slice = [4, 8]> : tensor<4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  }
  pdg.program {
    pdg.yield
  }
}
