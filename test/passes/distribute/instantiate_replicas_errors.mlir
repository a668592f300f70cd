// What has no meaning in one process.
// RUN: %pdc-opt --pdg-instantiate-replicas=trainers=2 --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.variable <"n"> : tensor<i64> {
  %0 = pdg.constant dense<0> : tensor<i64>
  pdg.yield %0 : tensor<i64>
}
pdg.program {
  %r = pdg.replica
  // expected-error@+1 {{is not run alike by all trainers}}
  pdg.assign <"n">, %r : tensor<i64>
  pdg.yield
}

// -----

pdg.program {
  %r = pdg.replica
  // expected-error@+1 {{expects 2 trainers}}
  %y = pdg.all_reduce %r sum of 3 : tensor<i64>
  pdg.yield
}

// -----

pdg.program {
  %r = pdg.replica
  %row = pdg.broadcast %r to [2] : tensor<i64>
  // expected-error@+1 {{gives each trainer another value}}
  %y = pdg.reduce_scatter %row sum of 2 : tensor<2xi64> -> tensor<1xi64>
  pdg.yield
}

// -----

pdg.program {
  %r = pdg.replica
  %zero = pdg.constant dense<0> : tensor<i64>
  %is_first = pdg.eq %r, %zero : tensor<i64>, tensor<i64>
  pdg.if %is_first {
    // expected-error@+1 {{is not run alike by all trainers}}
    %y = pdg.all_reduce %r sum of 2 : tensor<i64>
  } else {
  }
  pdg.yield
}
