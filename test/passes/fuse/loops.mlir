// A group that may stop the run does not move behind a loop that may never end.
// RUN: %pdc-opt --split-input-file --pdg-fuse %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

// CHECK-LABEL: pdg.program
pdg.program {
  %x = pdg.input "x" : tensor<8xi64>
  %y = pdg.input "y" : tensor<8xi64>
  %zero = pdg.constant dense<0> : tensor<i64>
  %most = pdg.constant dense<9223372036854775807> : tensor<i64>
  // CHECK: pdg.fused
  // CHECK-NEXT: pdg.floordiv
  // CHECK-NEXT: pdg.yield
  // CHECK: pdg.for
  // CHECK: pdg.lt
  // CHECK: pdg.fused
  // CHECK-NEXT: pdg.neg
  %a = pdg.floordiv %x, %y : tensor<8xi64>, tensor<8xi64>
  %n = pdg.for %zero to %most carry (%zero : tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>, %c: tensor<i64>):
    %less = pdg.lt %i, %c : tensor<i64>, tensor<i64>
    pdg.yield %i : tensor<i64> while %less
  }
  %b = pdg.neg %a : tensor<8xi64>
  pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%b, %n : tensor<8xi64>, tensor<i64>)
  pdg.yield
}

// -----

// CHECK-LABEL: pdg.program
pdg.program {
  %x = pdg.input "x" : tensor<8xi64>
  %y = pdg.input "y" : tensor<8xi64>
  %zero = pdg.constant dense<0> : tensor<i64>
  %ten = pdg.constant dense<10> : tensor<i64>
  // CHECK: pdg.for
  // CHECK: pdg.lt
  // CHECK: pdg.fused
  // CHECK-NEXT: pdg.floordiv
  // CHECK-NEXT: pdg.neg
  %a = pdg.floordiv %x, %y : tensor<8xi64>, tensor<8xi64>
  %n = pdg.for %zero to %ten carry (%zero : tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>, %c: tensor<i64>):
    %less = pdg.lt %i, %c : tensor<i64>, tensor<i64>
    pdg.yield %i : tensor<i64> while %less
  }
  %b = pdg.neg %a : tensor<8xi64>
  pdg.print ["", " ", ""] [#pdg.format<>, #pdg.format<>] (%b, %n : tensor<8xi64>, tensor<i64>)
  pdg.yield
}
