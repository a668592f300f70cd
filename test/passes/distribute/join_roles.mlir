// R12: the roles' programs, joined, are a graph again; what does not fit is refused.
// RUN: %pdc-opt --pdg-join-roles --split-input-file --verify-diagnostics %s | FileCheck %s
// DEFINE: %{normal} = --pdg-normalize --canonicalize --cse --pdg-normalize
// DEFINE: %{roles} = --pdg-insert-send-recv --pdg-split-roles
// RUN: %pdc-opt %{normal} %S/insert_send_recv.mlir > %t.whole
// RUN: %pdc-opt %{roles} %S/insert_send_recv.mlir -o %t.roles
// RUN: %pdc-opt --pdg-join-roles %{normal} %t.roles | diff %t.whole -
// A constant of a server that is another one.
// RUN: sed 's/1.000000e-01/2.000000e-01/' %t.roles | %pdc-opt --pdg-join-roles %{normal} | not diff %t.whole - > /dev/null
// SPDX-License-Identifier: Apache-2.0

#up = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server>>
#down = #pdg.edge<subject = <"w">, kind = variable, from = <server>, to = <trainer>>
module {
  module @trainer attributes {pdg.role = #pdg.role<trainer>} {
    pdg.program {
      %w = pdg.recv #down to [] : tensor<f32>
      %g = pdg.exp %w : tensor<f32>
      pdg.send %g, #up : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>} {
    // CHECK: pdg.variable <"w">
    // CHECK: pdg.home = #pdg.role<server>
    pdg.variable <"w"> : tensor<f32> {
      %0 = pdg.constant dense<1.0> : tensor<f32>
      pdg.yield %0 : tensor<f32>
    }
    // CHECK: pdg.program
    // CHECK-NEXT: %[[W:.*]] = pdg.read <"w">
    // CHECK-NEXT: %[[G:.*]] = pdg.exp %[[W]]
    // CHECK-NEXT: %[[S:.*]] = pdg.all_reduce %[[G]] sum of 2
    // CHECK-NEXT: pdg.assign <"w">, %[[S]]
    // CHECK-NEXT: pdg.yield
    pdg.program {
      %w = pdg.read <"w"> : tensor<f32>
      pdg.send %w, #down : tensor<f32>
      %g = pdg.accumulate #up sum of 2 to [] : tensor<f32>
      pdg.assign <"w">, %g : tensor<f32>
      pdg.yield
    }
  }
}

// -----

#down = #pdg.edge<subject = <"w">, kind = value, from = <server>, to = <trainer>>
module {
module @trainer attributes {pdg.role = #pdg.role<trainer>} {
  pdg.program {
    // expected-error@+1 {{waits in trainer for what nobody sends}}
    %w = pdg.recv #down to [] : tensor<f32>
    pdg.yield
  }
}
}

// -----

#down = #pdg.edge<subject = <"w">, kind = value, from = <server>, to = <trainer>>
module {
module @server_0 attributes {pdg.role = #pdg.role<server>} {
  pdg.program {
    %w = pdg.constant dense<1.0> : tensor<f32>
    // expected-error@+1 {{sends what nobody receives: value of w}}
    pdg.send %w, #down : tensor<f32>
    pdg.yield
  }
}
}

// -----

#down = #pdg.edge<subject = <"w">, kind = value, from = <server>, to = <trainer>>
module {
module @trainer attributes {pdg.role = #pdg.role<trainer>} {
  pdg.program {
    // expected-error@+1 {{expects a message of 'tensor<2xf32>', got 'tensor<f32>'}}
    %w = pdg.recv #down to [2] : tensor<2xf32>
    pdg.yield
  }
}
module @server_0 attributes {pdg.role = #pdg.role<server>} {
  pdg.program {
    %w = pdg.constant dense<1.0> : tensor<f32>
    pdg.send %w, #down : tensor<f32>
    pdg.yield
  }
}
}

// -----

// Both count to three, or not.
module {
module @trainer attributes {pdg.role = #pdg.role<trainer>} {
  pdg.program {
    %zero = pdg.constant dense<0> : tensor<i64>
    %three = pdg.constant dense<3> : tensor<i64>
    pdg.for %zero to %three {
    ^bb0(%i: tensor<i64>):
      pdg.print ["", ""] [#pdg.format<>] (%i : tensor<i64>)
      pdg.yield
    } {pdg.region = 0 : i64}
    pdg.yield
  }
}
module @server_0 attributes {pdg.role = #pdg.role<server>} {
  pdg.program {
    %zero = pdg.constant dense<0> : tensor<i64>
    %four = pdg.constant dense<4> : tensor<i64>
    // expected-error@+1 {{differs from its copies in other roles in a value that each of them computes for itself}}
    pdg.for %zero to %four {
    ^bb0(%i: tensor<i64>):
      pdg.yield
    } {pdg.region = 0 : i64}
    pdg.yield
  }
}
}
