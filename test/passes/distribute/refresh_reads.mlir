// A server that serves others while it waits reads its variables where it uses them: no update is
// made of an old value. Only servers do, and never past an assignment of their own.
// RUN: %pdc-opt --pdg-refresh-reads %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

#w = #pdg.edge<subject = <"w">, kind = variable, from = <server>, to = <trainer>>
#g = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server>>
module {
  // CHECK: module @server_0
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#w, #g]} {
    pdg.variable <"w"> : tensor<f32> {
      %one = pdg.constant dense<1.0> : tensor<f32>
      pdg.yield %one : tensor<f32>
    }
    pdg.program {
      %w = pdg.read <"w"> : tensor<f32>
      %decayed = pdg.mul %w, %w : tensor<f32>, tensor<f32>
      // CHECK: %[[OLD:.*]] = pdg.read <"w">
      // CHECK-NEXT: %[[FIRST:.*]] = pdg.read <"w">
      // CHECK-NEXT: pdg.send %[[FIRST]]
      // CHECK-NEXT: %[[G:.*]] = pdg.accumulate
      // CHECK-NEXT: %[[A:.*]] = pdg.read <"w">
      // CHECK-NEXT: %[[B:.*]] = pdg.read <"w">
      // CHECK-NEXT: %[[D:.*]] = pdg.mul %[[B]], %[[A]]
      // CHECK-NEXT: %[[NEXT:.*]] = pdg.sub %[[D]], %[[G]]
      // CHECK-NEXT: pdg.assign <"w">, %[[NEXT]]
      pdg.send %w, #w : tensor<f32>
      %g = pdg.accumulate #g sum of 1 to [] : tensor<f32>
      %next = pdg.sub %decayed, %g : tensor<f32>, tensor<f32>
      pdg.assign <"w">, %next : tensor<f32>
      // What was there before the assignment.
      // CHECK-NEXT: pdg.fetch "old", %[[OLD]] : tensor<f32>
      pdg.fetch "old", %w : tensor<f32>
      pdg.yield
    }
  }
  // CHECK: module @trainer
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#w, #g]} {
    pdg.program {
      // CHECK: %[[W:.*]] = pdg.recv
      // CHECK-NEXT: %[[E:.*]] = pdg.exp %[[W]]
      // CHECK-NEXT: pdg.print
      // CHECK: pdg.send %[[E]]
      %w = pdg.recv #w to [] : tensor<f32>
      %e = pdg.exp %w : tensor<f32>
      pdg.print ["", ""] [#pdg.format<>] (%w : tensor<f32>)
      pdg.send %e, #g : tensor<f32>
      pdg.yield
    }
  }
}
