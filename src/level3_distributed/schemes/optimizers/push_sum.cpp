// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/add_times.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"
#include "level3_distributed/schemes/mixing/push_graph.hpp"

namespace d5 {
namespace {

struct PushSumOptions {
  std::string edges;

  void declare(OptionList& options) {
    options.add("edges", edges,
                "text file of directed edges, a line of two ranks each; empty: the exponential "
                "graph, one edge a step");
  }
};

/// Each rank sends equal shares of x and of its weight w to those to whom its edges lead and to
/// itself, and adds up what it gets; gradients are taken at z = x / w. Edges have a direction.
///
/// Source: Assran et al., "Stochastic Gradient Push for Distributed Deep Learning" (2019),
/// algorithm 1, without overlap.
class PushSum final : public detail::OwnParameters {
 public:
  using Options = PushSumOptions;
  PushSum(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
          const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "push_sum"),
        graph_(ranks->rank(), ranks->size(), options.edges),
        tag_(ranks->own_tag()),
        z_(zeros()),
        share_(zeros()),
        x_(zeros()) {}

  const ValueMap& step(const Batch& batch) override {
    z_.copy_from(values());
    if (steps_.item<std::int64_t>() == 0) x_.copy_from(z_);
    return step_then(batch, [this] {
      detail::add_times(x_, 1, values());
      detail::add_times(x_, -1, z_);
      push();
      Tensor z = values();
      z.copy_from(x_);
      communicator().scale_local(z, 1 / weight());
    });
  }

 private:
  double& weight() { return *weight_.data<double>(); }

  void push() {
    auto& steps = *steps_.data<std::int64_t>();
    const auto to = graph_.to(steps), from = graph_.from(steps);
    ++steps;
    const double part = 1.0 / double(to.size() + 1);
    communicator().scale_local(x_, part);
    weight() *= part;
    share_.copy_from(x_);
    Tensor share_of_weight = weight_.copy();
    if (theirs_.size() < from.size()) theirs_.resize(from.size(), {});
    std::vector<Tensor> their_weights;
    std::vector<std::unique_ptr<Request>> calls;
    their_weights.reserve(from.size());
    for (std::size_t n = 0; n < from.size(); ++n) {
      if (!theirs_[n].defined()) theirs_[n] = zeros();
      their_weights.push_back(Tensor::scalar(0.0));
      calls.push_back(communicator().start_receive(theirs_[n], from[n], tag_));
      calls.push_back(communicator().start_receive(their_weights[n], from[n], tag_));
    }
    for (const int rank : to) {
      calls.push_back(communicator().start_send(share_, rank, tag_));
      calls.push_back(communicator().start_send(share_of_weight, rank, tag_));
    }
    for (const auto& call : calls) call->wait();
    for (std::size_t n = 0; n < from.size(); ++n) {
      detail::add_times(x_, 1, theirs_[n]);
      weight() += their_weights[n].item<double>();
    }
  }

  Memory memory() const override { return {{"steps", steps_}, {"weight", weight_}, {"x", x_}}; }

  detail::PushGraph graph_;
  int tag_;
  Tensor steps_ = Tensor::scalar(std::int64_t{0}), weight_ = Tensor::scalar(1.0);
  Tensor z_, share_, x_;
  std::vector<Tensor> theirs_;
};

}  // namespace

namespace distributed_optimizer {

void register_push_sum(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("push_sum",
               DistributedOptimizerEntry::of<PushSum>(
                   "parameters pushed along directed edges (SGP, Assran et al., 2019)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
