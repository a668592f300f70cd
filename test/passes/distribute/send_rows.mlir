// Rows of a large table travel, not the table: indices to the server, rows from it, and the rows of
// the gradient back.
// RUN: %pdc-opt --pdg-send-rows %s | FileCheck %s
// RUN: %pdc-opt --pdg-send-rows --pdg-split-batch=trainers=2 --canonicalize --cse \
// RUN:     --pdg-place-variables %s | FileCheck %s --check-prefix=PLACED
// SPDX-License-Identifier: Apache-2.0

module attributes {pdg.cluster = #pdg.cluster<trainers = 2, servers = 1>} {
  pdg.source @train "csv" ["a.csv"] batch 64 : [tensor<i64>]
  pdg.variable <"large"> : tensor<1000x4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<1000x4xf32>
    pdg.yield %0 : tensor<1000x4xf32>
  }
  pdg.variable <"small"> : tensor<100x4xf32> param {
    %0 = pdg.constant dense<0.0> : tensor<100x4xf32>
    pdg.yield %0 : tensor<100x4xf32>
  }
  // CHECK: pdg.program
  // PLACED: pdg.program
  pdg.program {
    pdg.for_each @train {
    // PLACED: ^bb0(%{{.*}}: tensor<i64>, %[[IDS:.*]]: tensor<?xi64>):
    ^bb0(%step: tensor<i64>, %ids: tensor<?xi64>):
      // CHECK: pdg.gather {{.*}} {pdg.whole} : tensor<1000x4xf32>
      // CHECK: pdg.gather {{.*}} : tensor<100x4xf32>
      // CHECK-NOT: pdg.whole
      // PLACED: %[[L:.*]] = pdg.read <"large"> {{.*}}<server>
      // PLACED: %[[ROWS:.*]] = pdg.gather %[[L]], %[[IDS]] {pdg.place = #pdg.role<server>, pdg.whole}
      // PLACED: %[[S:.*]] = pdg.read <"small"> {{.*}}<server>
      // PLACED: pdg.gather %[[S]], {{.*}}<trainer>
      // PLACED: pdg.part %[[ROWS]] {{.*}}<trainer>
      %large = pdg.read <"large"> : tensor<1000x4xf32>
      %a = pdg.gather %large, %ids : tensor<1000x4xf32>, tensor<?xi64>
      %small = pdg.read <"small"> : tensor<100x4xf32>
      %b = pdg.gather %small, %ids : tensor<100x4xf32>, tensor<?xi64>
      %g = pdg.mul %a, %b : tensor<?x4xf32>, tensor<?x4xf32>
      // CHECK: pdg.scatter_add {{.*}} into 1000 {pdg.whole}
      // CHECK: pdg.scatter_add {{.*}} into 100 :
      // PLACED: %[[G:.*]] = pdg.all_gather {{.*}} of 2
      // PLACED: %[[SUM:.*]] = pdg.scatter_add %[[G]] at %[[IDS]] into 1000 {pdg.place = #pdg.role<server>
      // PLACED: pdg.sub %[[L]], %[[SUM]] {{.*}}<server>
      // PLACED: %[[PART:.*]] = pdg.scatter_add {{.*}} into 100 {pdg.place = #pdg.role<trainer>}
      // PLACED: pdg.all_reduce %[[PART]] sum of 2
      %ga = pdg.scatter_add %g at %ids into 1000 : tensor<?xi64>, tensor<?x4xf32>
      %a1 = pdg.sub %large, %ga : tensor<1000x4xf32>, tensor<1000x4xf32>
      pdg.assign <"large">, %a1 : tensor<1000x4xf32>
      %gb = pdg.scatter_add %g at %ids into 100 : tensor<?xi64>, tensor<?x4xf32>
      %b1 = pdg.sub %small, %gb : tensor<100x4xf32>, tensor<100x4xf32>
      pdg.assign <"small">, %b1 : tensor<100x4xf32>
      pdg.yield
    }
    pdg.yield
  }
}
