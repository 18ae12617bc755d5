// SPDX-License-Identifier: Apache-2.0
// Properties of every scheme with different parameters on the ranks.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/level2_training/data/tensor_dataset.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level3_distributed/decentralized/quadratic.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

struct Scheme {
  const char* name;
  Settings settings;
};

std::vector<Scheme> own_schemes() {
  return {{"consistent_neighbors", {}},
          {"d2", {{"lazy", true}}},
          {"push_sum", {}},
          {"push_sum", {{"overlap", true}}},
          {"asynchronous_neighbors", {}},
          {"model_averaging", {{"every", 3}, {"state", "average"}}},
          {"post_local", {{"until", 3}, {"every", 2}}},
          {"slow_momentum", {{"every", 3}}},
          {"elastic_averaging", {{"rho", 0.5}}}};
}

/// This rank's eight samples.
std::shared_ptr<TensorDataset> own_samples() {
  const auto r = std::size_t(this_rank);
  const auto column = [](double value) {
    return Tensor::of<double>({8, 1}, std::vector<double>(8, value));
  };
  return std::make_shared<TensorDataset>(
      "own", std::vector<std::pair<std::string, Tensor>>{
                 {"a", column(kDifferent.a[r])}, {"b", column(0)}, {"c", column(kDifferent.c[r])}});
}

}  // namespace

TEST_CASE("training ends with one network on all ranks, the mean or the center") {
  for (const auto& [name, settings] : own_schemes()) {
    CAPTURE(name);
    const auto optimizer = scheme(name, settings, 0.1);
    CHECK_FALSE(optimizer->is_consistent());
    const auto train = samplers().at("ordered").make(own_samples(), {{"batch_size", 1}});
    const auto test = samplers().at("ordered").make(own_samples(), {{"batch_size", 4}});
    Trainer trainer(*optimizer, *train, test.get(), {.epochs = 2});
    optimizer->run(trainer);
    CHECK(trainer.step() == 16);
    for (const double other : of_all_ranks(x_of(*optimizer))) CHECK(other == x_of(*optimizer));
    CHECK(x_of(*optimizer) != 0);
  }
}

TEST_CASE("every scheme without a memory of its own is, on one rank, its optimizer") {
  if (rank_count > 1) return;
  for (const auto& [name, settings] : own_schemes()) {
    if (std::string_view(name) == "elastic_averaging" || std::string_view(name) == "slow_momentum")
      continue;
    CAPTURE(name);
    const auto optimizer = scheme(name, settings, 0.1);
    const auto alone = local_optimizer("sgd", 0.1);
    for (int step = 0; step < 7; ++step) {
      (void)optimizer->step(kDifferent.batch());
      (void)alone->step(kDifferent.batch());
      CHECK(std::abs(x_of(*optimizer) - x_of(*alone)) < kRounding);
    }
  }
}

TEST_CASE("a resumed run gives the bits of the one that was not interrupted") {
  for (const auto& [name, settings] : own_schemes()) {
    // Pairs depend on timing, unless there is nobody else.
    if (std::string_view(name) == "asynchronous_neighbors" && rank_count > 1) continue;
    for (const int interrupted_after : {2, 4, 5}) {
      CAPTURE(name, interrupted_after);
      const auto whole = scheme(name, settings, 0.1);
      for (int step = 0; step < interrupted_after; ++step) (void)whole->step(kDifferent.batch());
      ValueMap saved;
      for (const auto& [key, value] : whole->state()) saved[key] = value.tensor().copy();
      const double x = x_of(*whole);
      const auto resumed = scheme(name, settings, 0.1);
      x_of(*resumed) = x;
      resumed->restore(saved);
      for (int step = 0; step < 5; ++step) {
        (void)whole->step(kDifferent.batch());
        (void)resumed->step(kDifferent.batch());
        CHECK(x_of(*resumed) == x_of(*whole));
      }
    }
  }
}

TEST_CASE("a saved state of another scheme is refused by what is missing") {
  const auto d2 = scheme("d2", {{"lazy", true}});
  const auto push_sum = scheme("push_sum");
  CHECK_THROWS_AS(push_sum->restore(d2->state()), NotFound);
}

TEST_CASE("a step that one rank refuses updates nothing there, and mixes") {
  auto rule = local_optimizer("sgd", 0.1);
  struct Refused final : StepModifier {
    std::string name() const override { return "refused"; }
    bool wants_all_gradients() const override { return true; }
    bool gradients_final(ThreeStepOptimizer&, double&) override { return this_rank != 0; }
  };
  rule->add(std::make_shared<Refused>());
  const auto optimizer = distributed_optimizers()
                             .at("consistent_neighbors")
                             .make(rule, world(), {{"topology", "complete"}});
  kDifferent.begin(*optimizer);
  (void)optimizer->step(kDifferent.batch());
  const auto r = std::size_t(this_rank);
  const double move = r == 0 ? 0 : -0.1 * kDifferent.gradient(r, kDifferent.x[r]);
  CHECK(std::abs(x_of(*optimizer) - (mean(kDifferent.x) + move)) < kRounding);
}

TEST_CASE("evolution under averaged gradients exchanges its losses") {
  constexpr int kPairs = 3;
  auto rule = local_optimizer("sgd", 0.1);
  rule->add(step_modifiers().at("evolution").make({{"pairs", kPairs}}));
  const auto optimizer =
      distributed_optimizers().at("consistent_decentralized").make(rule, world(), {});
  const auto begin = world()->traffic().total();
  (void)optimizer->agreement().mean(1, 1);
  const auto one_loss = world()->traffic().total();
  (void)optimizer->step(kDifferent.batch());
  const auto end = world()->traffic().total();
  CHECK(end.bytes_sent - one_loss.bytes_sent ==
        2 * kPairs * (one_loss.bytes_sent - begin.bytes_sent));
  CHECK(end.calls - one_loss.calls == 2 * kPairs * (one_loss.calls - begin.calls));
}
