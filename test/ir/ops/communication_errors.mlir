// RUN: %pdc-opt --split-input-file --verify-diagnostics %s
// SPDX-License-Identifier: Apache-2.0

pdg.program { // all_reduce_c1
  %x = pdg.input "x" : tensor<4xf32>
  // expected-error@+1 {{expects 1 to 65536 processes, got 0}}
  %y = pdg.all_reduce %x sum of 0 : tensor<4xf32>
  pdg.yield
}

// -----

pdg.program { // all_gather_c2
  %x = pdg.input "x" : tensor<4xf32>
  // expected-error@+1 {{expects an axis of 'tensor<4xf32>', got 1}}
  %y = pdg.all_gather %x axis 1 of 2 to [8] : tensor<4xf32> -> tensor<8xf32>
  pdg.yield
}

// -----

pdg.program { // all_gather_c2_elements
  %x = pdg.input "x" : tensor<4xf32>
  // expected-error@+1 {{expects a result of the operand's rank and elements, got 'tensor<8xf64>'}}
  %y = pdg.all_gather %x axis 0 of 2 to [8] : tensor<4xf32> -> tensor<8xf64>
  pdg.yield
}

// -----

pdg.program { // reduce_scatter_c2
  %x = pdg.input "x" : tensor<f32>
  // expected-error@+1 {{expects an axis of 'tensor<f32>', got 0}}
  %y = pdg.reduce_scatter %x sum of 2 : tensor<f32> -> tensor<f32>
  pdg.yield
}

// -----

pdg.program { // broadcast_from_c2
  %x = pdg.input "x" : tensor<f32>
  // expected-error@+1 {{expects one of 2 trainers, got 2}}
  %y = pdg.broadcast_from %x replica 2 of 2 : tensor<f32>
  pdg.yield
}

// -----

pdg.program { // recv_c1
  // expected-error@+1 {{expects an edge from one process}}
  %y = pdg.recv <subject = <"w">, kind = gradient, from = <trainer>, to = <server>> to []
      : tensor<f32>
  pdg.yield
}

// -----

pdg.program { // accumulate_c1
  // expected-error@+1 {{expects 1 to 65536 processes, got 65537}}
  %y = pdg.accumulate <subject = <"w">, kind = gradient, from = <trainer>, to = <server>> sum
      of 65537 to [] : tensor<f32>
  pdg.yield
}

// -----

pdg.program { // accumulate_c2
  // expected-error@+1 {{expects an edge from all trainers, got one from server 0}}
  %y = pdg.accumulate <subject = <"w">, kind = variable, from = <server>, to = <trainer>> sum of 2
      to [] : tensor<f32>
  pdg.yield
}

// -----

pdg.program { // collect_c2
  // expected-error@+1 {{expects an edge from all trainers}}
  %y = pdg.collect <subject = <"w">, kind = value, from = <trainer>, to = <server>, first = true>
      axis 0 of 2 to [4] : tensor<4xf32>
  pdg.yield
}

// -----

pdg.program { // collect_c3
  // expected-error@+1 {{expects an axis of 'tensor<f32>', got 0}}
  %y = pdg.collect <subject = <"w">, kind = value, from = <trainer>, to = <server>> axis 0 of 2
      to [] : tensor<f32>
  pdg.yield
}

// -----

pdg.program { // enqueue_c1
  %x = pdg.input "x" : tensor<f32>
  // expected-error@+1 {{expects room for a tensor, got a capacity of 0}}
  pdg.enqueue %x, <subject = <"x">, kind = value, from = <server>, to = <server>> capacity 0
      : tensor<f32>
  pdg.yield
}

// -----

pdg.program { // loop_forever
  %x = pdg.input "x" : tensor<f32>
  // expected-error@+1 {{expects carried values, region arguments and results of equal types}}
  %y = pdg.loop_forever carry (%x : tensor<f32>) -> tensor<f64> {
  ^bb0(%z: tensor<f64>):
    pdg.yield %z : tensor<f64>
  }
  pdg.yield
}
