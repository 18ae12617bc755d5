// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/add_times.hpp"
#include "level3_distributed/schemes/mixing/neighbor_exchange.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"
#include "level3_distributed/schemes/mixing/topology_choice.hpp"

namespace d5 {
namespace {

/// x_i <- sum_j W_ij x_j + (U(x_i, g_i) - x_i), where U is one step of the rank's optimizer; for
/// plain gradient descent the second term is the paper's - eta g_i(x_i). Parameters, not gradients,
/// are averaged, and they are exchanged during backpropagation.
///
/// The paper proves convergence for plain gradient descent. Rules with state from gradients
/// (momentum, adam, ...) keep it local.
///
/// Source: Lian et al., "Can Decentralized Algorithms Outperform Centralized Algorithms? A Case
/// Study for Decentralized Parallel Stochastic Gradient Descent" (2017), algorithm 1.
class ConsistentNeighbors final : public detail::OwnParameters {
 public:
  using Options = detail::TopologyChoice;
  ConsistentNeighbors(std::shared_ptr<ThreeStepOptimizer> optimizer,
                      std::shared_ptr<Communicator> ranks, const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "consistent_neighbors"),
        exchange_(ranks, options.matrix(ranks->size())),
        sent_(zeros()),
        shift_(zeros()) {}

  const ValueMap& step(const Batch& batch) override {
    sent_.copy_from(values());
    exchange_.start(sent_);
    return step_then(
        batch,
        [this] {
          exchange_.finish(shift_);
          Tensor x = values();
          detail::add_times(x, 1, shift_);
        },
        [this] { exchange_.move_on(); });
  }

  Conditions conditions() const override { return detail::mixing_conditions(exchange_.weights()); }

 private:
  detail::NeighborExchange exchange_;
  Tensor sent_, shift_;
};

}  // namespace

namespace distributed_optimizer {

void register_consistent_neighbors(Registry<DistributedOptimizerEntry>& registry) {
  registry.add(
      "consistent_neighbors",
      DistributedOptimizerEntry::of<ConsistentNeighbors>(
          "decentralized parallel SGD: ranks average with neighbours (dpsgd, Lian et al., 2017)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
