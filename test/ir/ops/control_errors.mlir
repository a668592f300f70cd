// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

// expected-error@+1 {{expects its region to yield one}}
pdg.variable <"w"> : tensor<2xf32> {
  %x = pdg.constant dense<1.0> : tensor<3xf32>
  pdg.yield %x : tensor<3xf32>
}

// -----

// expected-error@+1 {{expects sizes that are known when compiling}}
pdg.variable <"w"> : tensor<?xf32> {
  %n = pdg.seed
  %one = pdg.constant dense<1.0> : tensor<f32>
  %x = pdg.broadcast %one to [%n] : tensor<f32>
  pdg.yield %x : tensor<?xf32>
}

// -----

pdg.program {
  %c = pdg.constant dense<true> : tensor<i1>
  // expected-error@+1 {{expects its regions to yield values of its results' types}}
  %x = pdg.if %c -> tensor<f32> {
    %a = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %a : tensor<f32>
  } else {
    pdg.yield
  }
  pdg.yield
}

// -----

pdg.program {
  %n = pdg.constant dense<1> : tensor<i64>
  // expected-error@+1 {{expects carried values, region arguments and results of equal types}}
  %x = pdg.for %n to %n carry (%n : tensor<i64>) -> tensor<i64> {
  ^bb0(%i: tensor<i64>):
    pdg.yield %i : tensor<i64>
  }
  pdg.yield
}

// -----

pdg.program {
  %c = pdg.constant dense<true> : tensor<i1>
  pdg.if %c {
    // expected-error@+1 {{expects 'while' in a loop only}}
    pdg.yield while %c
  } else {
    pdg.yield
  }
  pdg.yield
}

// -----

pdg.program {
  %n = pdg.constant dense<1> : tensor<i64>
  // expected-error@+1 {{expects its regions to yield values of its results' types}}
  pdg.for %n to %n {
  ^bb0(%i: tensor<i64>):
    %c = pdg.lt %i, %n : tensor<i64>, tensor<i64>
    pdg.yield %c : tensor<i1>
  }
  pdg.yield
}

// -----

pdg.program {
  // expected-error@+1 {{expects one segment more than values and a format for each, got 1 segments, 1 formats, 0 values}}
  pdg.print ["x"] [#pdg.format<>]
  pdg.yield
}
