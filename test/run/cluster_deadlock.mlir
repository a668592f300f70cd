// Roles that wait for each other: the interpreter says who waits for what, and where.
// SPDX-License-Identifier: Apache-2.0
// RUN: not pdc run %s --servers 1 --interpret 2>&1 | FileCheck %s

// CHECK: all processes wait for each other:
// CHECK-SAME: trainer 0 waits for server 0 to send 'variable of w' of {{.*}}cluster_deadlock.mlir:27
// CHECK-SAME: server 0 waits for trainer 0 to send 'gradient of w' of {{.*}}cluster_deadlock.mlir:16

#w = #pdg.edge<subject = <"w">, kind = variable, from = <server>, to = <trainer>>
#g = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server>>

module attributes {pdg.cluster = #pdg.cluster<trainers = 1, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#w, #g]} {
    pdg.program {
      %w = pdg.recv #w to [] : tensor<f32>
      pdg.send %w, #g : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#w, #g]} {
    pdg.variable <"w"> : tensor<f32> {
      %ten = pdg.constant dense<10.0> : tensor<f32>
      pdg.yield %ten : tensor<f32>
    }
    pdg.program {
      %sum = pdg.accumulate #g sum of 1 to [] : tensor<f32>
      pdg.send %sum, #w : tensor<f32>
      pdg.yield
    }
  }
}
