// Programs of roles, written by hand, that run as the threads of a cluster: R1 (trainers and servers
// both run sub-graphs), R2, R5 (the server joins the gradients of all trainers), R7 (its main loop is
// an op of the graph).
// SPDX-License-Identifier: Apache-2.0
// RUN: pdc run %s --trainers 2 --servers 1 --in-process | FileCheck %s
// RUN: pdc run %s --trainers 2 --servers 1 --interpret --seed 1 | FileCheck %s
// RUN: pdc run %s --trainers 2 --servers 1 --interpret --seed 2 --save %t.safetensors | FileCheck %s
// RUN: pdc run %s --trainers 2 --servers 1 --in-process --load %t.safetensors | FileCheck %s --check-prefix=AGAIN
// RUN: not pdc run %s --trainers 2 --servers 1 --in-process --load %t.safetensors --only v 2>&1 | FileCheck %s --check-prefix=ONLY

// Trainer r sends r + 1 three times; the server subtracts the sum of both.
// CHECK: round 0 w 10.0
// CHECK-NEXT: round 1 w 7.0
// CHECK-NEXT: round 2 w 4.0
// CHECK-NEXT: w = 1.0
// CHECK-NOT: round
// AGAIN: w = -8.0
// ONLY: the program has no variable 'v'

#w = #pdg.edge<subject = <"w">, kind = variable, from = <server>, to = <trainer>>
#last = #pdg.edge<subject = <"w">, kind = variable, number = 1, from = <server>, to = <trainer>>
#g = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server>>
#go = #pdg.edge<subject = <"loop">, kind = control, from = <trainer>, to = <server>, first = true>
#cluster = #pdg.cluster<trainers = 2, servers = 1>

module attributes {pdg.cluster = #cluster} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#w, #last, #g, #go]} {
    pdg.program {
      %zero = pdg.constant dense<0> : tensor<i64>
      %one = pdg.constant dense<1> : tensor<i64>
      %three = pdg.constant dense<3> : tensor<i64>
      %yes = pdg.constant dense<true> : tensor<i1>
      %no = pdg.constant dense<false> : tensor<i1>
      %r = pdg.replica
      %isFirst = pdg.eq %r, %zero : tensor<i64>, tensor<i64>
      %next = pdg.add %r, %one : tensor<i64>, tensor<i64>
      %gradient = pdg.cast %next to f32 : tensor<i64>
      pdg.for %zero to %three {
      ^bb0(%i: tensor<i64>):
        pdg.send %yes, #go : tensor<i1>
        %w = pdg.recv #w to [] : tensor<f32>
        pdg.if %isFirst {
          pdg.print ["round ", " w ", ""] [#pdg.format<>, #pdg.format<>] (%i, %w
              : tensor<i64>, tensor<f32>)
          pdg.yield
        } else {
          pdg.yield
        }
        pdg.send %gradient, #g : tensor<f32>
        pdg.yield
      }
      pdg.send %no, #go : tensor<i1>
      %w = pdg.recv #last to [] : tensor<f32>
      pdg.fetch "w", %w : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#w, #last, #g, #go]} {
    pdg.variable <"w"> : tensor<f32> {
      %ten = pdg.constant dense<10.0> : tensor<f32>
      pdg.yield %ten : tensor<f32>
    }
    pdg.program {
      pdg.loop_forever {
        %go = pdg.recv #go to [] : tensor<i1>
        pdg.if %go {
          %w = pdg.read <"w"> : tensor<f32>
          pdg.send %w, #w : tensor<f32>
          %sum = pdg.accumulate #g sum of 2 to [] : tensor<f32>
          %next = pdg.sub %w, %sum : tensor<f32>, tensor<f32>
          pdg.assign <"w">, %next : tensor<f32>
          pdg.yield
        } else {
          pdg.yield
        }
        pdg.yield while %go
      }
      %w = pdg.read <"w"> : tensor<f32>
      pdg.send %w, #last : tensor<f32>
      pdg.yield
    }
  }
}
