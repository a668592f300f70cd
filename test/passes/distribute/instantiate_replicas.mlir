// All trainers in one graph.
// RUN: %pdc-opt --pdg-instantiate-replicas=trainers=2 %s | FileCheck %s
// RUN: %pdc-opt --pdg-instantiate-replicas=trainers=2 %s -o %t.mlir
// RUN: %pdc run %t.mlir | FileCheck %s --check-prefix=ONE
// SPDX-License-Identifier: Apache-2.0

// CHECK-LABEL: pdg.program
pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %three = pdg.constant dense<3> : tensor<i64>
  // CHECK: pdg.constant dense<3>
  // CHECK: %[[R0:.*]] = pdg.constant dense<0>
  // CHECK: %[[R1:.*]] = pdg.constant dense<1>
  // CHECK-NOT: pdg.replica
  %r = pdg.replica
  // What differs is carried once for each trainer, in place of the one value.
  // CHECK: %[[L:.*]]:3 = pdg.for {{.*}} carry(%{{.*}}, %[[R0]], %[[R1]] :
  %last:2 = pdg.for %zero to %three carry (%zero, %r : tensor<i64>, tensor<i64>)
      -> tensor<i64>, tensor<i64> {
  // CHECK: ^bb0(%{{.*}}: tensor<i64>, %[[C:.*]]: tensor<i64>, %[[A:.*]]: tensor<i64>, %[[B:.*]]: tensor<i64>):
  ^bb0(%i: tensor<i64>, %count: tensor<i64>, %own: tensor<i64>):
    // CHECK: %[[SUM:.*]] = pdg.add %[[A]], %[[B]]
    // CHECK: pdg.add %[[C]], %[[SUM]]
    // CHECK: %[[X:.*]] = pdg.add %[[A]], %{{.*}}
    // CHECK: %[[Y:.*]] = pdg.add %[[B]], %{{.*}}
    // CHECK: pdg.yield %{{.*}}, %[[X]], %[[Y]] :
    %sum = pdg.all_reduce %own sum of 2 : tensor<i64>
    %counted = pdg.add %count, %sum : tensor<i64>, tensor<i64>
    %next = pdg.add %own, %three : tensor<i64>, tensor<i64>
    pdg.yield %counted, %next : tensor<i64>, tensor<i64>
  }
  // 1 + 7 + 13
  // ONE: 21
  // CHECK: pdg.print {{.*}}(%[[L]]#0
  pdg.print ["", ""] [#pdg.format<>] (%last#0 : tensor<i64>)
  %row = pdg.broadcast %last#1 to [1] : tensor<i64>
  // ONE-NEXT: i64[2] [9, 10] i64[1] [10]
  // CHECK: %[[ALL:.*]] = pdg.concat
  %all = pdg.all_gather %row axis 0 of 2 to [2] : tensor<1xi64> -> tensor<2xi64>
  %second = pdg.broadcast_from %row replica 1 of 2 : tensor<1xi64>
  pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%all, %second : tensor<2xi64>, tensor<1xi64>)
  // Each trainer takes its own branch.
  // ONE-NEXT: first
  // ONE-NOT: first
  // CHECK-COUNT-2: pdg.if
  %is_first = pdg.eq %r, %zero : tensor<i64>, tensor<i64>
  pdg.if %is_first {
    pdg.print ["first"] []
  } else {
  }
  pdg.yield
}
