// R9: an update that needs something of another server's: the norm of all gradients.
// RUN: %pdc-opt --pdg-insert-send-recv %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s0 = #pdg.role<server>
#s1 = #pdg.role<server, 1>

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  pdg.variable <"w"> : tensor<3xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<3xf32>
    pdg.yield %0 : tensor<3xf32>
  } {pdg.home = #s0}
  pdg.variable <"b"> : tensor<f32> param {
    %0 = pdg.constant dense<0.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s1}
  // CHECK-LABEL: pdg.program
  pdg.program {
    %x = pdg.input "x" : tensor<3xf32> {pdg.place = #t}
    %y = pdg.input "y" : tensor<f32> {pdg.place = #t}
    // CHECK: %[[GW:.*]] = pdg.accumulate <subject = <"w">, kind = gradient
    // CHECK: %[[GB:.*]] = pdg.accumulate <subject = <"b">, kind = gradient
    %gw = pdg.all_reduce %x sum of 2 {pdg.place = #t} : tensor<3xf32>
    %gb = pdg.all_reduce %y sum of 2 {pdg.place = #t} : tensor<f32>
    %ww = pdg.mul %gw, %gw {pdg.place = #s0} : tensor<3xf32>, tensor<3xf32>
    %nw = pdg.sum %ww axis 0 {pdg.place = #s0} : tensor<3xf32>
    // Each server makes its part of the norm; one joins them and tells the other.
    // CHECK: %[[NB:.*]] = pdg.mul %[[GB]], %[[GB]]
    // CHECK-NEXT: pdg.send %[[NB]], <{{.*}}kind = value, from = <server, 1>, to = <server>>
    // CHECK-NEXT: %[[THERE:.*]] = pdg.recv
    // CHECK-NEXT: %[[NORM:.*]] = pdg.add %{{.*}}, %[[THERE]]
    // CHECK-NEXT: pdg.send %[[NORM]], <{{.*}}kind = {{.*}}, from = <server>, to = <server, 1>>
    // CHECK-NEXT: %[[NORM1:.*]] = pdg.recv
    %nb = pdg.mul %gb, %gb {pdg.place = #s1} : tensor<f32>, tensor<f32>
    %norm = pdg.add %nw, %nb {pdg.place = #s0} : tensor<f32>, tensor<f32>
    %norms = pdg.broadcast %norm to [3] {pdg.place = #s0} : tensor<f32>
    // CHECK: pdg.read <"w">
    // CHECK-NOT: pdg.send
    // CHECK: pdg.assign <"w">
    // CHECK: pdg.div %[[GB]], %[[NORM1]]
    // CHECK: pdg.assign <"b">
    %w = pdg.read <"w"> : tensor<3xf32> {pdg.place = #s0}
    %cw = pdg.div %gw, %norms {pdg.place = #s0} : tensor<3xf32>, tensor<3xf32>
    %w1 = pdg.sub %w, %cw {pdg.place = #s0} : tensor<3xf32>, tensor<3xf32>
    pdg.assign <"w">, %w1 : tensor<3xf32> {pdg.place = #s0}
    %b = pdg.read <"b"> : tensor<f32> {pdg.place = #s1}
    %cb = pdg.div %gb, %norm {pdg.place = #s1} : tensor<f32>, tensor<f32>
    %b1 = pdg.sub %b, %cb {pdg.place = #s1} : tensor<f32>, tensor<f32>
    pdg.assign <"b">, %b1 : tensor<f32> {pdg.place = #s1}
    pdg.yield
  }
}
