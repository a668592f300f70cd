// R2 R12: roles that fit together are accepted and left as they are: a loop that the trainers lead,
// gradients of two trainers, a queue.
// RUN: %pdc-opt %s --pdg-check-cluster | FileCheck %s
// CHECK: module @trainer
// CHECK: pdg.loop_forever

#go = #pdg.edge<subject = <"loop">, kind = control, from = <trainer>, to = <server>, first = true>
#w = #pdg.edge<subject = <"w">, kind = variable, from = <server>, to = <trainer>>
#g = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server>>
#q = #pdg.edge<subject = <"q">, kind = value, from = <server>, to = <server>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1, trainer_memory = 4096, server_memory = 4096>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#go, #w, #g, #q]} {
    pdg.source @points "csv" ["points.csv"] batch 4 : [tensor<f32>]
    pdg.program {
      %yes = pdg.constant dense<true> : tensor<i1>
      %no = pdg.constant dense<false> : tensor<i1>
      pdg.for_each @points {
      ^bb0(%i: tensor<i64>, %x: tensor<?xf32>):
        pdg.send %yes, #go : tensor<i1>
        %w = pdg.recv #w to [] : tensor<f32>
        %g = pdg.neg %w : tensor<f32>
        pdg.send %g, #g : tensor<f32>
        pdg.yield
      } {pdg.region = 0 : i64}
      pdg.send %no, #go : tensor<i1>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#go, #w, #g, #q]} {
    pdg.variable <"w"> : tensor<f32> param {
      %init = pdg.constant dense<1.0> : tensor<f32>
      pdg.yield %init : tensor<f32>
    }
    pdg.program {
      pdg.loop_forever {
        %go = pdg.recv #go to [] : tensor<i1>
        pdg.if %go {
          %w = pdg.read <"w"> : tensor<f32>
          pdg.send %w, #w : tensor<f32>
          pdg.enqueue %w, #q capacity 1 : tensor<f32>
          %g = pdg.accumulate #g sum of 2 to [] : tensor<f32>
          %old = pdg.dequeue #q to [] : tensor<f32>
          %next = pdg.sub %old, %g : tensor<f32>, tensor<f32>
          pdg.assign <"w">, %next : tensor<f32>
          pdg.yield
        } else {
          pdg.yield
        }
        pdg.yield while %go
      } {pdg.region = 0 : i64}
      pdg.yield
    }
  }
}
