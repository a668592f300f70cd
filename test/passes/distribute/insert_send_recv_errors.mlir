// What cannot be cut, and what is left out.
// RUN: %pdc-opt --pdg-insert-send-recv --split-input-file --verify-diagnostics %s | FileCheck %s
// SPDX-License-Identifier: Apache-2.0

// Carried values and loops that nobody needs.
#t = #pdg.role<trainer>
#s = #pdg.role<server>
module attributes {pdg.cluster = #pdg.cluster<trainers = 1, servers = 1>} {
  // CHECK-LABEL: pdg.program
  pdg.program {
    %zero = pdg.constant {pdg.place = #pdg.role<anywhere>} dense<0> : tensor<i64>
    %x = pdg.input "x" : tensor<f32> {pdg.place = #t}
    // CHECK: %[[R:.*]] = pdg.for {{.*}} carry(%{{[0-9]+}} : tensor<f32>) -> tensor<f32>
    // CHECK-NOT: pdg.for
    // CHECK-NOT: pdg.send
    // CHECK: pdg.print {{.*}}(%[[R]]
    %r:2 = pdg.for %zero to %zero carry (%x, %x : tensor<f32>, tensor<f32>)
        -> tensor<f32>, tensor<f32> {
    ^bb0(%i: tensor<i64>, %a: tensor<f32>, %b: tensor<f32>):
      %n = pdg.exp %a {pdg.place = #t} : tensor<f32>
      %m = pdg.exp %b {pdg.place = #s} : tensor<f32>
      pdg.yield %n, %m : tensor<f32>, tensor<f32>
    } {pdg.places = [#t, #s]}
    pdg.for %zero to %zero {
    ^bb0(%i: tensor<i64>):
      %n = pdg.exp %x {pdg.place = #s} : tensor<f32>
      pdg.yield
    }
    pdg.print ["", ""] [#pdg.format<>] (%r#0 : tensor<f32>) {pdg.place = #t}
    pdg.yield
  }
}

// -----

// expected-error@+1 {{expects the attribute 'pdg.cluster', which says what to cut for}}
module {
  pdg.program {
    pdg.yield
  }
}

// -----

module attributes {pdg.cluster = #pdg.cluster<trainers = 1, servers = 1>} {
  pdg.program {
    // expected-error@+1 {{expects a place in a cluster of 1 servers, got #pdg.role<server, 1>}}
    %x = pdg.constant {pdg.place = #pdg.role<server, 1>} dense<0> : tensor<i64>
    pdg.yield
  }
}

// -----

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.program {
    %r = pdg.replica
    // expected-error@+1 {{expects values of 2 trainers and a server that joins them, got values of 3 trainers and 1 servers}}
    %s = pdg.all_reduce %r sum of 3 : tensor<i64>
    pdg.yield
  }
}

// -----

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.variable <"a"> : tensor<i64> {
    %0 = pdg.constant dense<1> : tensor<i64>
    pdg.yield %0 : tensor<i64>
  }
  pdg.program {
    // expected-error@+1 {{gives each trainer another value, but a server needs it}}
    %r = pdg.replica
    pdg.assign <"a">, %r : tensor<i64> {pdg.place = #pdg.role<server>}
    pdg.yield
  }
}
