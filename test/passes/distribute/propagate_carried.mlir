// What trainers join, and a loop carries, stays in the loop.
// RUN: %pdc-opt --pdg-propagate-shardings %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

// CHECK-LABEL: pdg.program
pdg.program {
  %zero = pdg.constant dense<0> : tensor<i64>
  %three = pdg.constant dense<3> : tensor<i64>
  %r = pdg.replica
  // CHECK: pdg.for
  // CHECK: %[[SUM:.*]] = pdg.all_reduce
  // CHECK: %[[NEXT:.*]] = pdg.add %{{.*}}, %[[SUM]]
  // CHECK-NEXT: pdg.yield %[[NEXT]]
  %total = pdg.for %zero to %three carry (%zero : tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>, %t: tensor<i64>):
    %own = pdg.mul %r, %i : tensor<i64>, tensor<i64>
    %sum = pdg.all_reduce %own sum of 2 : tensor<i64>
    %next = pdg.add %t, %sum : tensor<i64>, tensor<i64>
    pdg.yield %next : tensor<i64>
  }
  pdg.print ["", ""] [#pdg.format<>] (%total : tensor<i64>)
  pdg.yield
}
