// Small tensors that leave at one place for one role share a message; nothing moves.
// RUN: %pdc-opt %s --pdg-coalesce-transfers="small=8 most=16" | FileCheck %s
#a = #pdg.edge<subject = <"a">, kind = variable, from = <server>, to = <trainer>>
#b = #pdg.edge<subject = <"b">, kind = variable, from = <server>, to = <trainer>>
#c = #pdg.edge<subject = <"c">, kind = variable, from = <server>, to = <server, 1>>
#d = #pdg.edge<subject = <"d">, kind = variable, from = <server>, to = <trainer>>
#big = #pdg.edge<subject = <"big">, kind = variable, from = <server>, to = <trainer>>
#e = #pdg.edge<subject = <"e">, kind = variable, from = <server>, to = <trainer>>
#f = #pdg.edge<subject = <"f">, kind = variable, from = <server>, to = <trainer>>

// CHECK-LABEL: pdg.program
// CHECK: pdg.send {{.*}}"a"{{.*}} {pdg.message = 0 : i64}
// To another role.
// CHECK: pdg.send {{.*}}"c"{{.*}}> : tensor
// CHECK: pdg.send {{.*}}"b"{{.*}} {pdg.message = 0 : i64}
// CHECK: pdg.send {{.*}}"big"{{.*}}> : tensor
// The group is full.
// CHECK: pdg.send {{.*}}"d"{{.*}}> : tensor
// Behind a computation nothing is grouped with what came before.
// CHECK: pdg.exp
// CHECK: pdg.send {{.*}}"e"{{.*}} {pdg.message = 1 : i64}
// CHECK: pdg.send {{.*}}"f"{{.*}} {pdg.message = 1 : i64}
pdg.program {
  %x = pdg.constant dense<1.0> : tensor<2xf32>
  %big = pdg.constant dense<1.0> : tensor<3xf32>
  pdg.send %x, #a : tensor<2xf32>
  pdg.send %x, #c : tensor<2xf32>
  pdg.send %x, #b : tensor<2xf32>
  pdg.send %big, #big : tensor<3xf32>
  pdg.send %x, #d : tensor<2xf32>
  %y = pdg.exp %x : tensor<2xf32>
  pdg.send %y, #e : tensor<2xf32>
  pdg.send %y, #f : tensor<2xf32>
  pdg.yield
}
