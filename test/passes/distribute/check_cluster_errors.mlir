// Each kind of roles that do not fit together is refused, with the lines of both sides.
// RUN: %pdc-opt %s --pdg-check-cluster --split-input-file --verify-diagnostics
// Nobody receives.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      // expected-error @+1 {{'value of x' is sent to trainer, which never receives it}}
      pdg.send %one, #x : tensor<f32>
      pdg.yield
    }
  }
}

// -----

// Nobody sends.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      // expected-error @+1 {{waits for 'value of x', which server 0 never sends}}
      %x = pdg.recv #x to [] : tensor<f32>
      pdg.fetch "x", %x : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x]} {
    pdg.program {
      pdg.yield
    }
  }
}

// -----

// Two types.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      // expected-error @+1 {{'value of x' is received as 'tensor<f32>', and sent as 'tensor<2xf32>'}}
      %x = pdg.recv #x to [] : tensor<f32>
      pdg.fetch "x", %x : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<2xf32>
      // expected-note @+1 {{it is sent here}}
      pdg.send %one, #x : tensor<2xf32>
      pdg.yield
    }
  }
}

// -----

// One name twice.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      %x = pdg.recv #x to [] : tensor<f32>
      pdg.fetch "x", %x : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      // expected-note @+1 {{the first is here}}
      pdg.send %one, #x : tensor<f32>
      // expected-error @+1 {{'value of x' is sent in 2 places}}
      pdg.send %one, #x : tensor<f32>
      pdg.yield
    }
  }
}

// -----

// The wrong role.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      %x = pdg.recv #x to [] : tensor<f32>
      pdg.fetch "x", %x : tensor<f32>
      %one = pdg.constant dense<1.0> : tensor<f32>
      // expected-error @+1 {{'value of x' is sent by server 0, and this is trainer}}
      pdg.send %one, #x : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x]} {
    pdg.program {
      pdg.yield
    }
  }
}

// -----

// R20: a variable with two homes.
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = []} {
    // expected-note @+1 {{it is declared here too}}
    pdg.variable <"w"> : tensor<2xf32> {
      %v = pdg.constant dense<1.0> : tensor<2xf32>
      pdg.yield %v : tensor<2xf32>
    }
    pdg.program {
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = []} {
    // expected-error @+1 {{variable 'w' lives on trainer and on server 0}}
    pdg.variable <"w"> : tensor<2xf32> {
      %v = pdg.constant dense<1.0> : tensor<2xf32>
      pdg.yield %v : tensor<2xf32>
    }
    pdg.program {
      pdg.yield
    }
  }
}

// -----

// In a loop on one side only.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      %zero = pdg.constant dense<0> : tensor<i64>
      %ten = pdg.constant dense<10> : tensor<i64>
      pdg.for %zero to %ten {
      ^bb0(%i: tensor<i64>):
        // expected-error @+1 {{'value of x' is received in another loop or case than it is sent in}}
        %x = pdg.recv #x to [] : tensor<f32>
        pdg.yield
      } {pdg.region = 0 : i64}
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      // expected-note @+1 {{it is sent here}}
      pdg.send %one, #x : tensor<f32>
      pdg.yield
    }
  }
}

// -----

// Too few messages for a sum.
#g = #pdg.edge<subject = <"w">, kind = gradient, from = <trainer>, to = <server>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#g]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      pdg.send %one, #g : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#g]} {
    pdg.program {
      // expected-error @+1 {{'gradient of w' is joined of 3 messages, and 2 trainers send it}}
      %g = pdg.accumulate #g sum of 3 to [] : tensor<f32>
      pdg.yield
    }
  }
}

// -----

// An edge that is not used.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
// expected-error @+1 {{'value of x' is an edge that nobody sends or receives}}
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x]} {
    pdg.program {
      pdg.yield
    }
  }
}

// -----

// Tables that differ.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
#y = #pdg.edge<subject = <"y">, kind = value, from = <trainer>, to = <server>, first = true>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x]} {
    pdg.program {
      %x = pdg.recv #x to [] : tensor<f32>
      pdg.fetch "x", %x : tensor<f32>
      pdg.yield
    }
  }
  // expected-error @+1 {{expects the same 'pdg.edges' as the other roles have}}
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x, #y]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      pdg.send %one, #x : tensor<f32>
      pdg.yield
    }
  }
}

// -----

// A server without module.

// expected-error @+1 {{expects a module of server 0, there is none}}
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = []} {
    pdg.program {
      pdg.yield
    }
  }
}

// -----

// Each waits for the other.
#x = #pdg.edge<subject = <"x">, kind = value, from = <server>, to = <trainer>>
#y = #pdg.edge<subject = <"y">, kind = value, from = <trainer>, to = <server>, first = true>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#x, #y]} {
    pdg.program {
      // expected-error @+2 {{the roles would wait for each other for ever}}
      // expected-note @+1 {{trainer waits here for 'value of x' of server 0}}
      %x = pdg.recv #x to [] : tensor<f32>
      pdg.fetch "x", %x : tensor<f32>
      pdg.send %x, #y : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#x, #y]} {
    pdg.program {
      // expected-note @+1 {{server 0 waits here for 'value of y' of trainer}}
      %y = pdg.recv #y to [] : tensor<f32>
      pdg.send %y, #x : tensor<f32>
      pdg.yield
    }
  }
}

// -----

// A queue that fills before anybody takes from it.
#s = #pdg.edge<subject = <"s">, kind = value, from = <trainer>, to = <server>, first = true>
#y = #pdg.edge<subject = <"y">, kind = value, from = <trainer>, to = <server>, first = true>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#s, #y]} {
    pdg.program {
      %zero = pdg.constant dense<0> : tensor<i64>
      %ten = pdg.constant dense<10> : tensor<i64>
      %one = pdg.constant dense<1.0> : tensor<f32>
      pdg.for %zero to %ten {
      ^bb0(%i: tensor<i64>):
        // expected-error @+2 {{the roles would wait for each other for ever}}
        // expected-note @+1 {{trainer waits here until server 0 takes an earlier 'value of s': its queue is full}}
        pdg.send %one, #s : tensor<f32>
        pdg.yield
      } {pdg.region = 0 : i64}
      pdg.send %one, #y : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#s, #y]} {
    pdg.program {
      %zero = pdg.constant dense<0> : tensor<i64>
      %ten = pdg.constant dense<10> : tensor<i64>
      // expected-note @+1 {{server 0 waits here for 'value of y' of trainer}}
      %y = pdg.recv #y to [] : tensor<f32>
      pdg.for %zero to %ten {
      ^bb0(%i: tensor<i64>):
        %s = pdg.recv #s to [] : tensor<f32>
        pdg.yield
      } {pdg.region = 0 : i64}
      pdg.yield
    }
  }
}

// -----

// R7: a queue of one place that is to hold two.
#q = #pdg.edge<subject = <"q">, kind = value, from = <server>, to = <server>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#q]} {
    pdg.program {
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#q]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      pdg.enqueue %one, #q capacity 1 : tensor<f32>
      // expected-error @+2 {{the roles would wait for each other for ever}}
      // expected-note @+1 {{server 0 waits here until server 0 takes an earlier 'value of q': its queue is full}}
      pdg.enqueue %one, #q capacity 1 : tensor<f32>
      %a = pdg.dequeue #q to [] : tensor<f32>
      %b = pdg.dequeue #q to [] : tensor<f32>
      pdg.yield
    }
  }
}

// -----

// A server that is too small.
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1, server_memory = 4096>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = []} {
    pdg.program {
      pdg.yield
    }
  }
  // expected-error @+2 {{server 0 needs 8000 bytes, and the cluster gives it 4096}}
  // expected-note @+1 {{8000 bytes of variables, 0 of values, 0 of messages}}
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = []} {
    // expected-note @+1 {{the largest variable, 'w', has 8000 bytes}}
    pdg.variable <"w"> : tensor<2000xf32> {
      %v = pdg.constant dense<1.0> : tensor<2000xf32>
      pdg.yield %v : tensor<2000xf32>
    }
    pdg.program {
      pdg.yield
    }
  }
}

// -----

// A queue that fills because its receiver waits for a third role, some rounds later.
#a = #pdg.edge<subject = <"a">, kind = value, from = <trainer>, to = <server>, first = true>
#b = #pdg.edge<subject = <"b">, kind = value, from = <trainer>, to = <server, 1>, first = true>
#c = #pdg.edge<subject = <"c">, kind = value, from = <server, 1>, to = <server>>
module attributes {pdg.cluster = #pdg.cluster<trainers = 1, servers = 2>} {
  module @trainer attributes {pdg.role = #pdg.role<trainer>, pdg.edges = [#a, #b, #c]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      %zero = pdg.constant dense<0> : tensor<i64>
      %ten = pdg.constant dense<10> : tensor<i64>
      // expected-error @+2 {{the roles would wait for each other for ever}}
      // expected-note @+1 {{trainer ends this loop only when server 1 has begun it: queues between them fill}}
      pdg.for %zero to %ten {
      ^bb0(%i: tensor<i64>):
        pdg.send %one, #a : tensor<f32>
        pdg.yield
      } {pdg.region = 0 : i64}
      pdg.send %one, #b : tensor<f32>
      pdg.yield
    }
  }
  module @server_0 attributes {pdg.role = #pdg.role<server>, pdg.edges = [#a, #b, #c]} {
    pdg.program {
      %zero = pdg.constant dense<0> : tensor<i64>
      %ten = pdg.constant dense<10> : tensor<i64>
      pdg.for %zero to %ten {
      ^bb0(%i: tensor<i64>):
        %a = pdg.recv #a to [] : tensor<f32>
        %c = pdg.recv #c to [] : tensor<f32>
        pdg.yield
      } {pdg.region = 0 : i64}
      pdg.yield
    }
  }
  module @server_1 attributes {pdg.role = #pdg.role<server, 1>, pdg.edges = [#a, #b, #c]} {
    pdg.program {
      %one = pdg.constant dense<1.0> : tensor<f32>
      %zero = pdg.constant dense<0> : tensor<i64>
      %ten = pdg.constant dense<10> : tensor<i64>
      // expected-note @+1 {{server 1 waits here for 'value of b' of trainer}}
      %b = pdg.recv #b to [] : tensor<f32>
      pdg.for %zero to %ten {
      ^bb0(%i: tensor<i64>):
        pdg.send %one, #c : tensor<f32>
        pdg.yield
      } {pdg.region = 0 : i64}
      pdg.yield
    }
  }
}
