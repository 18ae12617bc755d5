// SPDX-License-Identifier: Apache-2.0
// n ranks train as a single rank with the whole batch, even if samples have different weights or a
// batch has fewer samples than ranks.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/loss_curve.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "tests/level2_training/weighed_classes.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using test::WeighedClasses;
using test::WeighedSamples;
using testing::rank_count;
using testing::this_rank;

namespace {

// All is float64: sums in another order differ in some last digits.
constexpr double kRounding = 1e-11, kRate = 0.5;
constexpr std::int64_t kBatch = 8, kWeighedSamples = 17;  // the last batch has one sample
constexpr int kEpochs = 2;

struct Scheme {
  std::string name;
  Settings settings = {};
  int least_ranks = 1;
};

/// Schemes whose ranks make a common step from all gradients.
std::vector<Scheme> consistent_schemes() {
  std::vector<Scheme> schemes{
      {"consistent_decentralized"},
      {"consistent_decentralized", {{"bucket_bytes", 8}, {"all_reduce", "ring"}}},
      {"consistent_decentralized", {{"exchange", "sharded"}}},
      {"consistent_centralized"},
      {"consistent_centralized", {{"server", "serves"}}, 2},
      {"stale_synchronous", {{"staleness", 0}}, 2},
      {"post_local", {{"until", 1000}}},
      {"tensor_parallel", {{"parts", 1}}}};
  if (rank_count % 2 == 0) {
    schemes.push_back({"pipeline", {{"stages", 2}, {"micro_batches", 3}, {"starts", "0,1"}}});
  }
  return schemes;
}

/// Samples 0 to 3 of the first batch do not count, so with two or more ranks one has no sample that
/// counts.
WeighedSamples samples_for(const WeighedClasses& model) {
  WeighedSamples samples(kWeighedSamples, model.ignored, 21, 0, 4);
  samples.labels.back() = model.ignored == 2 ? 0 : 2;
  return samples;
}

struct Trained {
  std::vector<double> w;  ///< empty at a rank that only serves
  std::vector<double> losses;
};

Trained weighed_training(const WeighedClasses& model, const Scheme& scheme,
                         const WeighedSamples& samples, Settings rule = {}) {
  const auto& entry = find_scheme(scheme.name);
  const RankRole role = entry.role(this_rank, rank_count, scheme.settings);
  const auto executor = entry.executor({model.network(), "loss", {}}, world(), scheme.settings);
  rule.set("learning_rate", kRate);
  const auto optimizer = entry.make(
      std::dynamic_pointer_cast<ThreeStepOptimizer>(open_optimizer("sgd", executor, "loss", rule)),
      world(), scheme.settings);
  const auto sampler = samplers().at("ordered").make(samples.dataset(), {{"batch_size", kBatch}});
  if (role.works()) sampler->take_part(role.share, role.shares);
  Trainer trainer(*optimizer, *sampler, nullptr, {.epochs = kEpochs});
  const auto losses = std::make_shared<LossCurve>();
  trainer.events().add(losses);
  optimizer->run(trainer);
  if (!role.works()) return {};
  Network whole = model.network();
  optimizer->join(whole);
  Network& mine = optimizer->executor().network();
  const bool has_parts = scheme.name == "pipeline";
  const auto w = (has_parts ? whole : mine).parameter("w").value.span<double>();
  return {{w.begin(), w.end()}, losses->samples()};
}

void check_close(const std::vector<double>& given, const std::vector<double>& expected) {
  REQUIRE(given.size() == expected.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    CHECK(given[i] == Approx(expected[i]).epsilon(kRounding).margin(kRounding));
  }
}

/// The losses of plain descent by the formula, before each update.
std::vector<double> losses_of(const WeighedClasses& model, const WeighedSamples& samples) {
  std::vector<double> losses, w = model.first;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (std::int64_t first = 0; first < kWeighedSamples; first += kBatch) {
      const auto part = samples.part(first, std::min(kBatch, kWeighedSamples - first));
      const auto answer = model.answer(w, part.x, part.labels);
      losses.push_back(answer.loss);
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= kRate * answer.gradient[i];
    }
  }
  return losses;
}

}  // namespace

TEST_CASE("n ranks train as one with the whole batch, whatever counts in its loss") {
  for (const WeighedClasses& model : test::weighed_cases()) {
    const WeighedSamples samples = samples_for(model);
    const auto expected = test::descended(model, samples, kBatch, kRate, kEpochs);
    for (const Scheme& scheme : consistent_schemes()) {
      if (rank_count < scheme.least_ranks) continue;
      if (scheme.name == "pipeline" && model.form == WeighedClasses::Form::masked) continue;
      CAPTURE(scheme.name, model.ignored.value_or(0), model.weights, int(model.form));
      const Trained result = weighed_training(model, scheme, samples);
      if (result.w.empty()) continue;
      check_close(result.w, expected);
    }
  }
}

TEST_CASE("pieces of ranks' parts are the whole batch, too") {
  for (const WeighedClasses& model : test::weighed_cases()) {
    const WeighedSamples samples = samples_for(model);
    const auto expected = test::descended(model, samples, kBatch, kRate, kEpochs);
    for (const std::int64_t pieces : {2, 3}) {
      CAPTURE(pieces, model.ignored.value_or(0), model.weights, int(model.form));
      check_close(
          weighed_training(model, {"consistent_decentralized"}, samples,
                           {{"modifiers.0.name", "accumulate"}, {"modifiers.0.pieces", pieces}})
              .w,
          expected);
    }
  }
}

TEST_CASE("the training loss that is reported is that of the whole batch") {
  for (const WeighedClasses& model : test::weighed_cases()) {
    const WeighedSamples samples = samples_for(model);
    CAPTURE(model.ignored.value_or(0), model.weights, int(model.form));
    check_close(weighed_training(model, {"consistent_decentralized"}, samples).losses,
                losses_of(model, samples));
  }
}

TEST_CASE("ranks that all have the same batch are refused") {
  if (rank_count < 2) return;
  const WeighedClasses model;
  const auto train = [&](const WeighedSamples& samples, bool cut) {
    const auto optimizer = distributed_optimizers()
                               .at("consistent_decentralized")
                               .make(std::dynamic_pointer_cast<ThreeStepOptimizer>(open_optimizer(
                                         "sgd", make_executor(model.network()), "loss", {})),
                                     world(), {});
    const auto sampler = samplers().at("ordered").make(samples.dataset(), {{"batch_size", 4}});
    if (cut) sampler->take_part(this_rank, rank_count);
    Trainer trainer(*optimizer, *sampler, nullptr);
    optimizer->run(trainer);
  };
  const WeighedSamples samples(4, {});
  CHECK_THROWS_WITH(train(samples, false), Catch::Contains("have the same first batch of 4") &&
                                               Catch::Contains("take_part(rank, ranks)"));
  CHECK_NOTHROW(train(samples, true));
  // Samples of each rank's own need no cut.
  CHECK_NOTHROW(train(WeighedSamples(4, {}, 21 + std::uint64_t(this_rank)), false));
}

TEST_CASE("ranks that have other hyper-parameters are refused") {
  if (rank_count < 2) return;
  const WeighedClasses model;
  const WeighedSamples samples(4, {});
  const auto train = [&](double rate) {
    const auto optimizer =
        distributed_optimizers()
            .at("consistent_decentralized")
            .make(std::dynamic_pointer_cast<ThreeStepOptimizer>(open_optimizer(
                      "sgd", make_executor(model.network()), "loss", {{"learning_rate", rate}})),
                  world(), {});
    const auto sampler = samplers().at("ordered").make(samples.dataset(), {{"batch_size", 4}});
    sampler->take_part(this_rank, rank_count);
    Trainer trainer(*optimizer, *sampler, nullptr);
    optimizer->run(trainer);
  };
  CHECK_THROWS_WITH(train(this_rank == 0 ? 0.1 : 0.2), Catch::Contains("learning_rate is 0."));
  CHECK_NOTHROW(train(0.1));
}

TEST_CASE("ranks send no more than their gradients if samples count alike") {
  const WeighedSamples samples(4 * rank_count, {});
  const auto calls = [&](const WeighedClasses& model) {
    const auto optimizer = distributed_optimizers()
                               .at("consistent_decentralized")
                               .make(std::dynamic_pointer_cast<ThreeStepOptimizer>(open_optimizer(
                                         "sgd", make_executor(model.network()), "loss", {})),
                                     world(), {{"all_reduce", "mpi"}});
    const auto sampler =
        samplers().at("ordered").make(samples.dataset(), {{"batch_size", 4 * rank_count}});
    sampler->take_part(this_rank, rank_count);
    const Traffic before = world()->traffic();
    optimizer->step(*sampler->next());
    return world()->traffic().since(before).total().calls;
  };
  const std::int64_t plain = calls({}), counted = calls({.ignored = -100});
  CHECK(counted == plain + (rank_count > 1 ? 1 : 0));  // one number of each is gathered
}

TEST_CASE("ranks without samples, or with none that counts, poison no scheme") {
  // The last batch has one sample, and some rank has none of it, but in a world of one.
  const WeighedClasses model{.ignored = -100, .weights = {0.25, 2, 5}};
  const WeighedSamples samples = samples_for(model);
  const std::vector<Scheme> schemes{{"asynchronous_neighbors"},
                                    {"consistent_neighbors"},
                                    {"d2", {{"lazy", true}}},
                                    {"elastic_averaging"},
                                    {"hogwild"},
                                    {"inconsistent_centralized", {}, 2},
                                    {"model_averaging"},
                                    {"post_local", {{"until", 1}}},
                                    {"push_sum"},
                                    {"slow_momentum"},
                                    {"stale_synchronous", {{"staleness", 2}}, 2}};
  for (const Scheme& scheme : schemes) {
    if (rank_count < scheme.least_ranks) continue;
    CAPTURE(scheme.name);
    const Trained result = weighed_training(model, scheme, samples);
    if (result.w.empty()) continue;
    for (const double w : result.w) CHECK(std::isfinite(w));
    CHECK(result.w != model.first);
  }
}

TEST_CASE("a batch in which nothing counts on any rank ends training on all") {
  const WeighedClasses model{.ignored = -100};
  const WeighedSamples samples(kWeighedSamples, -100, 3, 0, kWeighedSamples);
  CHECK_THROWS_WITH(weighed_training(model, {"consistent_decentralized"}, samples),
                    Catch::Contains("nothing"));
}
