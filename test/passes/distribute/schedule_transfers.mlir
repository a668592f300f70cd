// Receives move down to their first use, sends up to where their value is made.
// RUN: %pdc-opt %s --pdg-schedule-transfers | FileCheck %s
#w = #pdg.edge<subject = <"w">, kind = variable, from = <server>, to = <trainer>>
#v = #pdg.edge<subject = <"v">, kind = variable, from = <server>, to = <trainer>>
#n = #pdg.edge<subject = <"n">, kind = value, from = <server>, to = <trainer>>
#a = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server>>
#b = #pdg.edge<subject = <"v">, kind = gradient, from = <trainer>, to = <server>>

// CHECK-LABEL: pdg.program
// CHECK: [[W:%.*]] = pdg.recv {{.*}}"w"
// CHECK-NEXT: [[A:%.*]] = pdg.exp [[W]]
// CHECK-NEXT: pdg.send [[A]], {{.*}}"w"
// The size comes before what has it, and both before a loop that needs them.
// CHECK: [[N:%.*]] = pdg.recv {{.*}}"n"
// CHECK-NEXT: [[V:%.*]] = pdg.recv {{.*}}"v"{{.*}}{{\[}}[[N]]]
// CHECK-NEXT: pdg.for
// CHECK-NEXT: ^bb0
// CHECK-NEXT: pdg.exp [[V]]
// CHECK-NEXT: pdg.send {{.*}}"v"
pdg.program {
  %n = pdg.recv #n to [] : tensor<i64>
  %v = pdg.recv #v to [%n] : tensor<?xf32>
  %w = pdg.recv #w to [2] : tensor<2xf32>
  %a = pdg.exp %w : tensor<2xf32>
  %zero = pdg.constant dense<0> : tensor<i64>
  pdg.send %a, #a : tensor<2xf32>
  %three = pdg.constant dense<3> : tensor<i64>
  pdg.for %zero to %three {
  ^bb0(%i: tensor<i64>):
    %b = pdg.exp %v : tensor<?xf32>
    %c = pdg.exp %b : tensor<?xf32>
    pdg.send %b, #b : tensor<?xf32>
    pdg.fetch "c", %c : tensor<?xf32>
    pdg.yield
  }
  pdg.yield
}
