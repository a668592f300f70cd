// R8: what the script says about places is obeyed, or refused with its place.
// RUN: split-file %s %t
// RUN: %pdc-opt --pdg-place-variables %t/obeyed.mlir | FileCheck %t/obeyed.mlir
// RUN: %pdc-opt --pdg-place-variables %t/refused.mlir --split-input-file --verify-diagnostics
// SPDX-License-Identifier: Apache-2.0

//--- obeyed.mlir
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 3>} {
  // CHECK: pdg.variable <"a">
  // CHECK: } {pdg.home = #pdg.role<server, 2>, pdg.on = "ps2", pdg.why = "the script says so"}
  pdg.variable <"a"> : tensor<4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  } {pdg.on = "ps2"}
  // The state of its optimizer goes with it.
  // CHECK: pdg.variable <"a", state = "m">
  // CHECK: } {pdg.home = #pdg.role<server, 2>, pdg.why = "with a: one update works on both"}
  pdg.variable <"a", state = "m"> : tensor<4xf32> {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  }
  // A copy on each trainer.
  // CHECK: pdg.variable <"c">
  // CHECK: } {pdg.home = #pdg.role<trainer>,
  pdg.variable <"c"> : tensor<2xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<2xf32>
    pdg.yield %0 : tensor<2xf32>
  } {pdg.replicate}
  // CHECK: pdg.program
  pdg.program {
    %g = pdg.input "g" : tensor<4xf32>
    // CHECK: pdg.read <"a", state = "m"> {{.*}}<server, 2>
    %m = pdg.read <"a", state = "m"> : tensor<4xf32>
    %m1 = pdg.add %m, %g : tensor<4xf32>, tensor<4xf32>
    // CHECK: pdg.assign <"a", state = "m">, {{.*}}<server, 2>
    pdg.assign <"a", state = "m">, %m1 : tensor<4xf32>
    %a = pdg.read <"a"> : tensor<4xf32>
    %a1 = pdg.sub %a, %m1 : tensor<4xf32>, tensor<4xf32>
    pdg.assign <"a">, %a1 : tensor<4xf32>
    // CHECK: pdg.read <"c"> {{.*}}<trainer>
    // CHECK: pdg.exp {{.*}}<trainer>
    // CHECK: pdg.assign <"c">, {{.*}}<trainer>
    %c = pdg.read <"c"> : tensor<2xf32>
    %c1 = pdg.exp %c : tensor<2xf32>
    pdg.assign <"c">, %c1 : tensor<2xf32>
    // CHECK: pdg.tanh {{.*}}pdg.place = #pdg.role<server, 1>
    %y = pdg.tanh %g {pdg.on = "server1"} : tensor<4xf32>
    pdg.fetch "y", %y : tensor<4xf32>
    pdg.yield
  }
}

//--- refused.mlir
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  // expected-error@+1 {{PD0205: expected a node of the cluster: trainer, server0, server1; found 'ps2'}}
  pdg.variable <"a"> : tensor<4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  } {pdg.on = "ps2"}
  pdg.program {
    pdg.yield
  }
}

// -----

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  // expected-error@+1 {{PD0205: expected one place for 'a', found @replicate, a copy on each trainer, and @on("ps1")}}
  pdg.variable <"a"> : tensor<4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  } {pdg.on = "ps1", pdg.replicate}
  pdg.program {
    pdg.yield
  }
}

// -----

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.program {
    %r = pdg.replica
    // expected-error@+1 {{PD0205: expected values that are the same on all trainers on 'ps0', found parts of a batch}}
    %y = pdg.cast %r to f32 {pdg.on = "ps0"} : tensor<i64>
    pdg.fetch "y", %y : tensor<f32>
    pdg.yield
  }
}

// -----

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 0>} {
  pdg.variable <"a"> : tensor<4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  }
  pdg.program {
    %g = pdg.input "g" : tensor<4xf32>
    // expected-error@+1 {{PD0203: expected a server that keeps 'a', which is updated here; found a cluster of 2 trainers without servers}}
    pdg.assign <"a">, %g : tensor<4xf32>
    pdg.yield
  }
}

// -----

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1, mode = async>} {
  // expected-error@+1 {{PD0205: expected a server for 'a', as trainers update it one by one in the mode async; found a copy on each trainer}}
  pdg.variable <"a"> : tensor<4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<4xf32>
    pdg.yield %0 : tensor<4xf32>
  } {pdg.replicate}
  pdg.program {
    %g = pdg.input "g" : tensor<4xf32>
    pdg.assign <"a">, %g : tensor<4xf32>
    pdg.yield
  }
}
