// A random value is a function of seed, path, counters and position: nothing else changes it.
// RUN: %pdc run --interpret %s | FileCheck %s
// RUN: %pdc run %s | FileCheck %s
// RUN: %pdc run --interpret %s > %t.a
// RUN: %pdc run --interpret %s --threads 2 > %t.b
// RUN: %pdc run --interpret %s --seed 1 > %t.c
// RUN: diff %t.a %t.b
// RUN: not diff %t.a %t.c
// SPDX-License-Identifier: Apache-2.0

pdg.program {
  %seed = pdg.seed
  %zero = pdg.constant dense<0> : tensor<i64>
  %one = pdg.constant dense<1> : tensor<i64>
  %a = pdg.random_uniform "net.a" seed %seed f32 to [4]
  %longer = pdg.random_uniform "net.a" seed %seed f32 to [2, 4]
  %b = pdg.random_uniform "net.b" seed %seed f32 to [4]
  %c = pdg.random_uniform "net.a" seed %seed counters (%zero) f32 to [4]
  %d = pdg.random_uniform "net.a" seed %seed counters (%one) f32 to [4]
  pdg.print ["", ""] [#pdg.format<>] (%a : tensor<4xf32>)

  // The flat position decides: a longer tensor begins with the same values.
  // CHECK: prefix bool[4] [true, true, true, true]
  %row = pdg.slice %longer axis 0 from 0 size 1 : tensor<2x4xf32>
  %start = pdg.reshape %row to [4] : tensor<1x4xf32>
  %same = pdg.eq %a, %start : tensor<4xf32>, tensor<4xf32>
  pdg.print ["prefix ", ""] [#pdg.format<>] (%same : tensor<4xi1>)

  // CHECK: path bool[4] [false, false, false, false]
  %path = pdg.eq %a, %b : tensor<4xf32>, tensor<4xf32>
  pdg.print ["path ", ""] [#pdg.format<>] (%path : tensor<4xi1>)
  // CHECK: counter bool[4] [false, false, false, false]
  %counter = pdg.eq %c, %d : tensor<4xf32>, tensor<4xf32>
  pdg.print ["counter ", ""] [#pdg.format<>] (%counter : tensor<4xi1>)

  // CHECK: mean 0.50 deviation 1.0
  %many = pdg.random_uniform "net.u" seed %seed f64 to [20000]
  %count = pdg.constant dense<20000.0> : tensor<f64>
  %total = pdg.sum %many axis 0 : tensor<20000xf64>
  %mean = pdg.div %total, %count : tensor<f64>, tensor<f64>
  %normal = pdg.random_normal "net.n" seed %seed f64 to [20000]
  %square = pdg.mul %normal, %normal : tensor<20000xf64>, tensor<20000xf64>
  %squares = pdg.sum %square axis 0 : tensor<20000xf64>
  %variance = pdg.div %squares, %count : tensor<f64>, tensor<f64>
  pdg.print ["mean ", " deviation ", ""]
      [#pdg.format<precision = 2>, #pdg.format<precision = 1>] (%mean, %variance
      : tensor<f64>, tensor<f64>)
  pdg.yield
}
