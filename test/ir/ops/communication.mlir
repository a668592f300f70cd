// The form of what crosses from process to process (R4), and that a graph of it reads back.
// RUN: %pdc-opt %s | %pdc-opt | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

#g = #pdg.edge<subject = <"net.W", state = "adam.m">, kind = gradient, from = <trainer>, to = <server, 1>>
#v = #pdg.edge<subject = <"net.W">, kind = variable, number = 2, from = <server, 1>, to = <trainer>>
#q = #pdg.edge<subject = <"jobs">, kind = value, from = <server>, to = <server>>

// CHECK-DAG: #pdg.cluster<trainers = 2, servers = 2, mode = bounded, bound = 4>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2, mode = bounded, bound = 4>} {
  pdg.program {
    // CHECK: pdg.replica
    %r = pdg.replica
    %x = pdg.input "x" : tensor<4x3xf32>
    // CHECK: pdg.all_reduce %{{.*}} sum of 2 : tensor<4x3xf32>
    %a = pdg.all_reduce %x sum of 2 : tensor<4x3xf32>
    // CHECK: pdg.all_gather %{{.*}} axis 0 of 2 to [8, 3] : tensor<4x3xf32> -> tensor<8x3xf32>
    %b = pdg.all_gather %x axis 0 of 2 to [8, 3] : tensor<4x3xf32> -> tensor<8x3xf32>
    // CHECK: pdg.reduce_scatter %{{.*}} max of 2 : tensor<4x3xf32> -> tensor<2x3xf32>
    %c = pdg.reduce_scatter %x max of 2 : tensor<4x3xf32> -> tensor<2x3xf32>
    // CHECK: pdg.broadcast_from %{{.*}} replica 1 of 2 : tensor<4x3xf32>
    %d = pdg.broadcast_from %x replica 1 of 2 : tensor<4x3xf32>
    // CHECK: pdg.send %{{.*}}, <subject = <"net.W", state = "adam.m">, kind = gradient, from = <trainer>, to = <server, 1>> : tensor<4x3xf32>
    pdg.send %x, #g : tensor<4x3xf32>
    // CHECK: pdg.recv <subject = <"net.W">, kind = variable, number = 2, from = <server, 1>, to = <trainer>> to [4, 3] : tensor<4x3xf32>
    %e = pdg.recv #v to [4, 3] : tensor<4x3xf32>
    // CHECK: pdg.accumulate {{.*}} min of 2 to [%{{.*}}, 3] : tensor<?x3xf32>
    %f = pdg.accumulate #g min of 2 to [%r, 3] : tensor<?x3xf32>
    // CHECK: pdg.collect {{.*}} axis 0 of 2 to [8, 3] : tensor<8x3xf32>
    %g = pdg.collect #g axis 0 of 2 to [8, 3] : tensor<8x3xf32>
    // CHECK: pdg.enqueue %{{.*}}, {{.*}} capacity 2 : tensor<4x3xf32>
    pdg.enqueue %x, #q capacity 2 : tensor<4x3xf32>
    // CHECK: pdg.dequeue {{.*}} to [4, 3] : tensor<4x3xf32>
    %h = pdg.dequeue #q to [4, 3] : tensor<4x3xf32>
    // CHECK: pdg.loop_forever carry(%{{.*}} : tensor<i64>) -> tensor<i64> {
    // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>):
    %i = pdg.loop_forever carry (%r : tensor<i64>) -> tensor<i64> {
    ^bb0(%n: tensor<i64>):
      pdg.yield %n : tensor<i64>
    }
    pdg.yield
  }
}
