// RUN: %pdc-opt --pdg-differentiate --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %x = pdg.input "x" : tensor<2xf32>
  // expected-error@+1 {{expects a scalar}}
  %g = pdg.gradient %x of [] %x : tensor<2xf32> : tensor<2xf32> -> tensor<2xf32>
  pdg.fetch "g", %g : tensor<2xf32>
  pdg.yield
}

// -----

// A loop that only its condition ends.
pdg.program {
  %x = pdg.input "x" : tensor<f32>
  %zero = pdg.constant dense<0> : tensor<i64>
  %most = pdg.constant dense<9223372036854775807> : tensor<i64>
  // expected-error@+1 {{has no gradient: its number of iterations is not known when compiling}}
  %y = pdg.for %zero to %most carry (%x : tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i64>, %a: tensor<f32>):
    %b = pdg.mul %a, %x : tensor<f32>, tensor<f32>
    %less = pdg.lt %b, %x : tensor<f32>, tensor<f32>
    pdg.yield %b : tensor<f32> while %less
  }
  %g = pdg.gradient %y of [] %x : tensor<f32> : tensor<f32> -> tensor<f32>
  pdg.fetch "g", %g : tensor<f32>
  pdg.yield
}

// -----

// What a round reads would be another value when it runs again.
pdg.variable <"s"> : tensor<f32> {
  %one = pdg.constant dense<1.0> : tensor<f32>
  pdg.yield %one : tensor<f32>
}
pdg.program {
  %x = pdg.input "x" : tensor<f32>
  %zero = pdg.constant dense<0> : tensor<i64>
  %three = pdg.constant dense<3> : tensor<i64>
  %y = pdg.for %zero to %three carry (%x : tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i64>, %a: tensor<f32>):
    %even = pdg.eq %i, %zero : tensor<i64>, tensor<i64>
    %b = pdg.if %even -> tensor<f32> {
      // expected-error@+1 {{is not allowed in a differentiated condition or loop}}
      %s = pdg.read <"s"> : tensor<f32>
      %p = pdg.mul %a, %s : tensor<f32>, tensor<f32>
      pdg.assign <"s">, %p : tensor<f32>
      pdg.yield %p : tensor<f32>
    } else {
      pdg.yield %a : tensor<f32>
    }
    pdg.yield %b : tensor<f32>
  }
  %g = pdg.gradient %y of [] %x : tensor<f32> : tensor<f32> -> tensor<f32>
  pdg.fetch "g", %g : tensor<f32>
  pdg.yield
}
