// R13: loops and conditions cross the cut.
// RUN: %pdc-opt --pdg-insert-send-recv --split-input-file %s | FileCheck %s
// DEFINE: %{normal} = --pdg-normalize --canonicalize --cse --pdg-normalize --split-input-file
// RUN: %pdc-opt --pdg-insert-send-recv --pdg-split-roles --pdg-join-roles %{normal} %s > %t.joined
// RUN: %pdc-opt %{normal} %s | diff - %t.joined
// SPDX-License-Identifier: Apache-2.0

// A condition of the trainers whose body updates a variable; a print in it.
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s = #pdg.role<server>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.variable <"lr"> : tensor<f32> {
    %0 = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s}
  // CHECK-LABEL: pdg.program
  pdg.program {
    %half = pdg.constant {pdg.place = #any} dense<0.5> : tensor<f32>
    %x = pdg.input "x" : tensor<f32> {pdg.place = #t}
    // CHECK: %[[X:.*]] = pdg.input
    // CHECK: %[[SMALL:.*]] = pdg.lt %[[X]]
    // CHECK-NEXT: pdg.send %[[SMALL]], <{{.*}}, kind = value, from = <trainer>, to = <server>, first = true>
    // CHECK-NEXT: %[[THERE:.*]] = pdg.recv {{.*}} : tensor<i1>
    %small = pdg.lt %x, %half {pdg.place = #t} : tensor<f32>, tensor<f32>
    // CHECK: pdg.if %[[SMALL]]
    // CHECK-NEXT: pdg.if
    // CHECK-NEXT: pdg.print
    // CHECK-NOT: pdg.assign
    // CHECK: pdg.place = #pdg.role<trainer>, pdg.region = 0
    // CHECK: pdg.if %[[THERE]]
    // CHECK-NEXT: pdg.read <"lr">
    // CHECK: pdg.assign <"lr">
    // CHECK: pdg.place = #pdg.role<server>, pdg.region = 0
    pdg.if %small {
      pdg.print ["small"] [] {pdg.place = #t}
      %lr = pdg.read <"lr"> : tensor<f32> {pdg.place = #s}
      %less = pdg.mul %lr, %half {pdg.place = #s} : tensor<f32>, tensor<f32>
      pdg.assign <"lr">, %less : tensor<f32> {pdg.place = #s}
      pdg.yield
    } else {
      pdg.yield
    }
    pdg.yield
  }
}

// -----

// A loop over data that only reads: the server sends once, before the loop, and has no copy of it.
// What joins values has one.
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s = #pdg.role<server>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.source @test "csv" ["a.csv"] batch 64 : [tensor<f32>]
  pdg.variable <"w"> : tensor<f32> {
    %0 = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s}
  // CHECK-LABEL: pdg.program
  pdg.program {
    // CHECK: pdg.read
    // CHECK-NEXT: pdg.send {{.*}} kind = variable
    // CHECK-NEXT: %[[W:.*]] = pdg.recv
    %w = pdg.read <"w"> : tensor<f32> {pdg.place = #s}
    %zero = pdg.constant {pdg.place = #any} dense<0.0> : tensor<f32>
    // CHECK: pdg.for_each @test
    // CHECK-NOT: pdg.send
    // CHECK: pdg.yield %{{.*}} : tensor<f32>
    // CHECK-NOT: pdg.loop_forever
    // CHECK: pdg.print
    %last = pdg.for_each @test carry (%zero : tensor<f32>) -> tensor<f32> {
    ^bb0(%step: tensor<i64>, %x: tensor<?xf32>, %sum: tensor<f32>):
      %s = pdg.sum %x axis 0 {pdg.place = #t} : tensor<?xf32>
      %p = pdg.mul %s, %w {pdg.place = #t} : tensor<f32>, tensor<f32>
      %next = pdg.add %sum, %p {pdg.place = #t} : tensor<f32>, tensor<f32>
      pdg.yield %next : tensor<f32>
    } {pdg.places = [#t]}
    pdg.print ["", ""] [#pdg.format<>] (%last : tensor<f32>) {pdg.place = #t}
    pdg.yield
  }
}

// -----

// A loop that carries a value of the server and one that everybody computes, that ends by a
// condition of the trainers, and whose result the trainers use.
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s = #pdg.role<server>
module attributes {pdg.cluster = #pdg.cluster<trainers = 1, servers = 1>} {
  pdg.variable <"m"> : tensor<f32> {
    %0 = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s}
  // CHECK-LABEL: pdg.program
  pdg.program {
    %zero = pdg.constant {pdg.place = #any} dense<0> : tensor<i64>
    %ten = pdg.constant {pdg.place = #any} dense<10> : tensor<i64>
    %one = pdg.constant {pdg.place = #any} dense<1.0> : tensor<f32>
    %x = pdg.input "x" : tensor<f32> {pdg.place = #t}
    %m = pdg.read <"m"> : tensor<f32> {pdg.place = #s}
    // CHECK: pdg.for {{.*}} carry(%[[F:.*]] : tensor<f32>) -> tensor<f32> {
    // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[C:.*]]: tensor<f32>):
    // CHECK: %[[NEXT:.*]] = pdg.add %[[C]],
    // CHECK: %[[MORE:.*]] = pdg.lt
    // CHECK-NEXT: pdg.send %[[MORE]]
    // CHECK-NEXT: pdg.yield %[[NEXT]] : tensor<f32> while %[[MORE]]
    // CHECK-NEXT: pdg.place = #pdg.role<trainer>, pdg.region = 0 : i64, pdg.slots = array<i64: 1>
    // CHECK: %[[R:.*]]:2 = pdg.for {{.*}} -> tensor<f32>, tensor<f32> {
    // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i64>, %[[M:.*]]: tensor<f32>, %[[C1:.*]]: tensor<f32>):
    // CHECK: %[[N1:.*]] = pdg.mul %[[M]], %[[C1]]
    // CHECK: %[[MORE1:.*]] = pdg.recv
    // CHECK-NEXT: pdg.yield %[[N1]], %{{.*}} : tensor<f32>, tensor<f32> while %[[MORE1]]
    // CHECK-NEXT: pdg.place = #pdg.role<server>, pdg.region = 0 : i64, pdg.slots = array<i64: 0, 1>
    // CHECK-NEXT: pdg.send %[[R]]#0
    // CHECK-NEXT: pdg.recv
    %r:2 = pdg.for %zero to %ten carry (%m, %one : tensor<f32>, tensor<f32>)
        -> tensor<f32>, tensor<f32> {
    ^bb0(%i: tensor<i64>, %state: tensor<f32>, %factor: tensor<f32>):
      %next = pdg.mul %state, %factor {pdg.place = #s} : tensor<f32>, tensor<f32>
      %grown = pdg.add %factor, %one {pdg.place = #any} : tensor<f32>, tensor<f32>
      %y = pdg.mul %x, %factor {pdg.place = #t} : tensor<f32>, tensor<f32>
      %more = pdg.lt %y, %one {pdg.place = #t} : tensor<f32>, tensor<f32>
      pdg.yield %next, %grown : tensor<f32>, tensor<f32> while %more
    } {pdg.places = [#s, #any]}
    // One trainer prints without asking who it is.
    // CHECK-NOT: pdg.if
    // CHECK: pdg.print
    pdg.print ["", ""] [#pdg.format<>] (%r#0 : tensor<f32>) {pdg.place = #t}
    pdg.yield
  }
}

// -----

// Servers count rounds that they need to know. A value of several servers is sent to each. What has
// a size that only the run knows is received with that size, and the bound of it.
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s0 = #pdg.role<server>
#s1 = #pdg.role<server, 1>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 2>} {
  pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<f32>]
  pdg.variable <"a"> : tensor<f32> {
    %0 = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s0}
  pdg.variable <"b"> : tensor<i64> {
    %0 = pdg.constant dense<1> : tensor<i64>
    pdg.yield %0 : tensor<i64>
  } {pdg.home = #s1}
  // CHECK-LABEL: pdg.program
  pdg.program {
    pdg.for_each @train {
    ^bb0(%step: tensor<i64>, %x: tensor<?xf32>):
      // CHECK: %[[E:.*]] = pdg.exp
      // CHECK-NEXT: pdg.send %[[E]], <{{.*}}to = <server>
      // CHECK-NEXT: pdg.send %[[E]], <{{.*}}to = <server, 1>
      // CHECK: pdg.loop_forever
      // CHECK: %[[N:.*]] = pdg.recv {{.*}} to [] {pdg.bound = 64 : i64} : tensor<i64>
      // CHECK-NEXT: pdg.recv {{.*}} to [%[[N]]] : tensor<?xf32>
      %e = pdg.exp %x {pdg.place = #t} : tensor<?xf32>
      %a = pdg.sum %e axis 0 {pdg.place = #s0} : tensor<?xf32>
      pdg.assign <"a">, %a : tensor<f32> {pdg.place = #s0}
      // CHECK: pdg.loop_forever carry(%{{.*}} : tensor<i64>) -> tensor<i64> {
      // CHECK-NEXT: ^bb0(%[[COUNT:.*]]: tensor<i64>):
      // CHECK: %[[GO:.*]] = pdg.recv
      // CHECK-NEXT: %[[IF:.*]] = pdg.if %[[GO]] -> tensor<i64>
      // CHECK: pdg.add %{{.*}}, %[[COUNT]]
      // CHECK: %[[ONE:.*]] = pdg.constant dense<1>
      // CHECK-NEXT: %[[NEXT:.*]] = pdg.add %[[COUNT]], %[[ONE]]
      // CHECK-NEXT: pdg.yield %[[NEXT]]
      // CHECK: } else {
      // CHECK-NEXT: pdg.yield %[[COUNT]]
      // CHECK: pdg.yield %[[IF]] : tensor<i64> while %[[GO]]
      %f = pdg.sum %e axis 0 {pdg.place = #s1} : tensor<?xf32>
      %c = pdg.cast %f to i64 {pdg.place = #s1} : tensor<f32>
      %d = pdg.add %c, %step {pdg.place = #s1} : tensor<i64>, tensor<i64>
      pdg.assign <"b">, %d : tensor<i64> {pdg.place = #s1}
      pdg.yield
    }
    pdg.yield
  }
}

// -----

// Sums and parts of sizes that only the run knows.
#t = #pdg.role<trainer>
#s = #pdg.role<server>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<f32>]
  pdg.variable <"a"> : tensor<f32> {
    %0 = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s}
  // CHECK-LABEL: pdg.program
  pdg.program {
    %r = pdg.replica {pdg.place = #t}
    pdg.for_each @train {
    ^bb0(%step: tensor<i64>, %x: tensor<?xf32>):
      // CHECK: %[[N:.*]] = pdg.dim
      // CHECK-NEXT: pdg.send %[[N]]
      // CHECK: pdg.loop_forever
      // CHECK: %[[SIZE:.*]] = pdg.recv {{.*}} : tensor<i64>
      // CHECK: pdg.accumulate {{.*}} sum of 2 to [%[[SIZE]]]
      // CHECK: pdg.collect {{.*}} axis 0 of 2 to [%[[SIZE]]]
      %n = pdg.dim %x axis 0 {pdg.place = #t} : tensor<?xf32>
      %e = pdg.exp %x {pdg.place = #t} : tensor<?xf32>
      %sum = pdg.all_reduce %e sum of 2 {pdg.place = #t} : tensor<?xf32>
      %half = pdg.part_begin %n part 1 of 2 {pdg.place = #t}
      %part = pdg.part %e axis 0 from %half size %half {pdg.place = #t} : tensor<?xf32>
      %all = pdg.all_gather %part axis 0 of 2 to [%n] {pdg.place = #t}
          : tensor<?xf32> -> tensor<?xf32>
      %y = pdg.mul %sum, %all {pdg.place = #s} : tensor<?xf32>, tensor<?xf32>
      %a = pdg.sum %y axis 0 {pdg.place = #s} : tensor<?xf32>
      pdg.assign <"a">, %a : tensor<f32> {pdg.place = #s}
      pdg.yield
    }
    pdg.yield
  }
}

// -----

// Trainers take part in a loop in which they do nothing but send.
#any = #pdg.role<anywhere>
#t = #pdg.role<trainer>
#s = #pdg.role<server>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.variable <"a"> : tensor<f32> {
    %0 = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s}
  // CHECK-LABEL: pdg.program
  pdg.program {
    %zero = pdg.constant {pdg.place = #any} dense<0> : tensor<i64>
    %x = pdg.input "x" : tensor<f32> {pdg.place = #t}
    // CHECK: pdg.for
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: pdg.send
    // CHECK: pdg.for
    // CHECK-NEXT: ^bb0
    // CHECK-NEXT: pdg.accumulate
    pdg.for %zero to %zero {
    ^bb0(%i: tensor<i64>):
      %sum = pdg.all_reduce %x sum of 2 {pdg.place = #t} : tensor<f32>
      pdg.assign <"a">, %sum : tensor<f32> {pdg.place = #s}
      pdg.yield
    }
    pdg.yield
  }
}

// -----

// A whole batch that a server needs: the size comes first.
#t = #pdg.role<trainer>
#s = #pdg.role<server>
module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<f32>]
  pdg.variable <"a"> : tensor<f32> {
    %0 = pdg.constant dense<1.0> : tensor<f32>
    pdg.yield %0 : tensor<f32>
  } {pdg.home = #s}
  // CHECK-LABEL: pdg.program
  pdg.program {
    pdg.for_each @train {
    ^bb0(%step: tensor<i64>, %x: tensor<?xf32>):
      // CHECK: %[[N:.*]] = pdg.dim %[[X:.*]] axis 0
      // CHECK-NEXT: pdg.send %[[N]]
      // CHECK-NEXT: pdg.send %[[X]]
      // CHECK: pdg.loop_forever
      // CHECK: %[[SIZE:.*]] = pdg.recv {{.*}} {pdg.bound = 64 : i64} : tensor<i64>
      // CHECK-NEXT: pdg.recv {{.*}} to [%[[SIZE]]]
      %a = pdg.sum %x axis 0 {pdg.place = #s} : tensor<?xf32>
      pdg.assign <"a">, %a : tensor<f32> {pdg.place = #s}
      pdg.yield
    }
    pdg.yield
  }
}
