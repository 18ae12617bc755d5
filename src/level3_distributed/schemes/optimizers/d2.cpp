// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "level3_distributed/schemes/mixing/add_times.hpp"
#include "level3_distributed/schemes/mixing/neighbor_exchange.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"
#include "level3_distributed/schemes/mixing/topology_choice.hpp"

namespace d5 {
namespace {

struct D2Options : detail::TopologyChoice {
  bool lazy = false;

  void declare(OptionList& options) {
    TopologyChoice::declare(options);
    options.add("lazy", lazy, "mix by (I + W) / 2 instead of W");
  }
};

MixingMatrix weights_of(const D2Options& options, int ranks) {
  const MixingMatrix plain = options.matrix(ranks);
  if (options.lazy) return plain.lazy();
  // Margin for rounding: eigenvalues for a few hundred ranks are exact to about 1e-15 of the
  // largest, 1.
  constexpr double kLeast = -1.0 / 3 + 1e-12;
  if (plain.least_eigenvalue() > kLeast) return plain;
  throw ValueError(
      fmt::format("scheme d2: the least eigenvalue of topology {} of {} ranks is {:.6g}; it "
                  "converges only above -1/3; give lazy=true, which mixes by (I + W) / 2",
                  options.topology.name, ranks, plain.least_eigenvalue()));
}

/// x <- W (2x - x_prev - eta (g - g_prev)), at first W (x - eta g). Unlike consistent_neighbors, it
/// converges to the solution for all data even if ranks have different data.
///
/// It stores the updates -eta g, so it also works with a changing learning rate.
///
/// Source: Tang et al., "D2: Decentralized Training over Decentralized Data" (2018), algorithm 1.
class D2 final : public detail::OwnParameters {
 public:
  using Options = D2Options;
  D2(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
     const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "d2"),
        exchange_(ranks, weights_of(options, ranks->size())),
        x_(zeros()),
        shift_(zeros()),
        previous_x_(zeros()),
        previous_move_(zeros()) {
    expect_plain_descent();
  }

  const ValueMap& step(const Batch& batch) override {
    x_.copy_from(values());
    return step_then(batch, [this] { mix(); });
  }

  Conditions conditions() const override { return detail::mixing_conditions(exchange_.weights()); }

 private:
  void mix() {
    Tensor v = values();  // x - eta g
    detail::subtract(v, x_, shift_);
    if (steps_.item<std::int64_t>() > 0) {
      detail::add_times(v, 1, x_);
      detail::add_times(v, -1, previous_x_);
      detail::add_times(v, -1, previous_move_);
    }
    previous_move_.copy_from(shift_);
    previous_x_.copy_from(x_);
    ++*steps_.data<std::int64_t>();
    exchange_.start(v);
    exchange_.finish(shift_);
    detail::add_times(v, 1, shift_);
  }

  Memory memory() const override {
    return {{"steps", steps_}, {"previous_x", previous_x_}, {"previous_move", previous_move_}};
  }

  detail::NeighborExchange exchange_;
  Tensor steps_ = Tensor::scalar(std::int64_t{0});
  Tensor x_, shift_, previous_x_, previous_move_;
};

}  // namespace

namespace distributed_optimizer {

void register_d2(Registry<DistributedOptimizerEntry>& registry) {
  registry.add(
      "d2", DistributedOptimizerEntry::of<D2>(
                "decentralized SGD corrected for different data on ranks (D2, Tang et al., 2018)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
