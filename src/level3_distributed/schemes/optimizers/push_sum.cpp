// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/schemes/mixing/add_times.hpp"
#include "level3_distributed/schemes/mixing/edge_file.hpp"
#include "level3_distributed/schemes/mixing/own_parameters.hpp"
#include "level3_distributed/schemes/mixing/reached_ranks.hpp"

namespace d5::detail {
namespace {

/// The ranks that a rank pushes to, and that push to it, in each step: along the edges of a file,
/// or by default to the ranks 1, 2, 4, ... after it in turn.
class PushGraph {
 public:
  /// Throws: as `read_edges`; ValueError if the graph is not strongly connected.
  PushGraph(int rank, int ranks, const std::string& edge_file);
  [[nodiscard]] std::vector<int> to(std::int64_t step) const;
  [[nodiscard]] std::vector<int> from(std::int64_t step) const;

 private:
  [[nodiscard]] int distance(std::int64_t step) const;

  int rank_, ranks_;
  bool is_exponential_;
  std::vector<int> to_, from_;  // with a file
};

PushGraph::PushGraph(int rank, int ranks, const std::string& edge_file)
    : rank_(rank), ranks_(ranks), is_exponential_(edge_file.empty()) {
  if (is_exponential_) return;
  const auto listed = read_edges(edge_file, ranks);
  const std::set<std::pair<int, int>> edges(listed.begin(), listed.end());
  const auto expect_all = [&](const std::vector<int>& reached, const char* way) {
    if (reached.size() == std::size_t(ranks)) return;
    throw ValueError(
        fmt::format("scheme push_sum: in the graph of '{}' only ranks {} {} rank 0; the graph must "
                    "be strongly connected",
                    printable(edge_file), fmt::join(reached, ", "), way));
  };
  expect_all(reached_ranks(ranks, [&](int i, int j) { return edges.contains({i, j}); }),
             "are reached from");
  expect_all(reached_ranks(ranks, [&](int i, int j) { return edges.contains({j, i}); }), "reach");
  for (const auto& [i, j] : edges) {
    if (i == j) continue;
    if (i == rank) to_.push_back(j);
    if (j == rank) from_.push_back(i);
  }
}

int PushGraph::distance(std::int64_t step) const {
  const int distances = std::bit_width(unsigned(ranks_ - 1));
  return distances == 0 ? 0 : 1 << (step % distances);
}

std::vector<int> PushGraph::to(std::int64_t step) const {
  if (!is_exponential_) return to_;
  if (ranks_ == 1) return {};
  return {(rank_ + distance(step)) % ranks_};
}

std::vector<int> PushGraph::from(std::int64_t step) const {
  if (!is_exponential_) return from_;
  if (ranks_ == 1) return {};
  return {(rank_ - distance(step) + ranks_) % ranks_};
}

}  // namespace
}  // namespace d5::detail

namespace d5 {
namespace {

struct PushSumOptions {
  std::string edges;
  bool overlap = false;

  void declare(OptionList& options) {
    options.add("edges", edges,
                "text file of directed edges, two ranks per line; empty: the exponential graph, "
                "one edge per step");
    options.add("overlap", overlap,
                "overlap messages with the next step: they are added at its end");
  }
};

/// Stochastic gradient push (SGP): each rank sends equal shares of x and of its weight w along its
/// directed edges and to itself, and sums the shares that it receives; gradients are taken at z = x
/// / w.
///
/// Messages contain the step's gradient, so they cannot overlap with its computation. With
/// `overlap` the messages of a step, x and w alike, are added one step later.
///
/// Source: Assran et al., "Stochastic Gradient Push for Distributed Deep Learning" (2019),
/// algorithm 1; `overlap`: algorithm 2, whose messages are one step late (tau = 1).
class PushSum final : public detail::OwnParameters {
 public:
  using Options = PushSumOptions;
  PushSum(std::shared_ptr<ThreeStepOptimizer> optimizer, std::shared_ptr<Communicator> ranks,
          const Options& options)
      : OwnParameters(std::move(optimizer), ranks, "push_sum"),
        options_(options),
        graph_(ranks->rank(), ranks->size(), options.edges),
        tag_(ranks->own_tag()),
        z_(zeros()),
        share_(zeros()),
        x_(zeros()),
        arrived_(zeros()) {}

  const ValueMap& step(const Batch& batch) override {
    z_.copy_from(values());
    if (steps_.item<std::int64_t>() == 0) x_.copy_from(z_);
    return step_then(
        batch,
        [this] {
          detail::add_times(x_, 1, values());
          detail::add_times(x_, -1, z_);
          receive();  // messages of the previous step
          push();
          if (!options_.overlap) receive();
          take_arrived();
          Tensor z = values();
          z.copy_from(x_);
          communicator().scale_local(z, 1 / weight());
        },
        [this] {
          for (const auto& call : calls_) (void)call->done();
        });
  }

  /// Finishes all calls at its end, because observers of the training leave then.
  void run(Trainer& trainer, const Interrupt& interrupt) override {
    const DropOnFailure guard{calls_};
    OwnParameters::run(trainer, interrupt);
    receive();
  }

  [[nodiscard]] ValueMap state() const override {
    const_cast<PushSum*>(this)->receive();
    return OwnParameters::state();
  }

 private:
  using Calls = std::vector<std::unique_ptr<Request>>;
  /// Drops calls on a failure, because a failed rank must not wait for others.
  struct DropOnFailure {
    Calls& calls;
    ~DropOnFailure() {
      if (std::uncaught_exceptions() > 0) calls.clear();
    }
  };

  double& weight() { return *weight_.data<double>(); }

  /// Keeps its own share, and starts the sends and receives of the others.
  void push() {
    auto& steps = *steps_.data<std::int64_t>();
    const auto to = graph_.to(steps), from = graph_.from(steps);
    ++steps;
    const double part = 1.0 / double(to.size() + 1);
    communicator().scale_local(x_, part);
    weight() *= part;
    share_.copy_from(x_);
    share_of_weight_ = weight_.copy();
    while (theirs_.size() < from.size()) {
      theirs_.push_back(zeros());
      their_weights_.push_back(Tensor::scalar(0.0));
    }
    for (std::size_t n = 0; n < from.size(); ++n) {
      calls_.push_back(communicator().start_receive(theirs_[n], from[n], tag_));
      calls_.push_back(communicator().start_receive(their_weights_[n], from[n], tag_));
    }
    for (const int rank : to) {
      calls_.push_back(communicator().start_send(share_, rank, tag_));
      calls_.push_back(communicator().start_send(share_of_weight_, rank, tag_));
    }
    coming_ = from.size();
  }

  /// Waits for the messages in flight; they are added later.
  void receive() {
    for (const auto& call : calls_) call->wait();
    calls_.clear();
    for (std::size_t n = 0; n < coming_; ++n) {
      detail::add_times(arrived_, 1, theirs_[n]);
      detail::add_times(arrived_weight_, 1, their_weights_[n]);
    }
    coming_ = 0;
  }
  void take_arrived() {
    detail::add_times(x_, 1, arrived_);
    weight() += arrived_weight_.item<double>();
    arrived_.copy_from(zeros());
    *arrived_weight_.data<double>() = 0;
  }

  Memory memory() const override {
    Memory all{{"steps", steps_}, {"weight", weight_}, {"x", x_}};
    if (options_.overlap) {
      all.emplace_back("arrived", arrived_);
      all.emplace_back("arrived_weight", arrived_weight_);
    }
    return all;
  }

  Options options_;
  detail::PushGraph graph_;
  int tag_;
  Tensor steps_ = Tensor::scalar(std::int64_t{0}), weight_ = Tensor::scalar(1.0);
  Tensor z_, share_, x_;
  Tensor arrived_, arrived_weight_ = Tensor::scalar(0.0);  // not added yet
  Tensor share_of_weight_;
  std::vector<Tensor> theirs_, their_weights_;
  std::size_t coming_ = 0;
  Calls calls_;  // the last member, because the calls use the others
};

}  // namespace

namespace distributed_optimizer {

void register_push_sum(Registry<DistributedOptimizerEntry>& registry) {
  registry.add("push_sum",
               DistributedOptimizerEntry::of<PushSum>(
                   "stochastic gradient push along directed edges (SGP, Assran et al., 2019)"));
}

}  // namespace distributed_optimizer
}  // namespace d5
