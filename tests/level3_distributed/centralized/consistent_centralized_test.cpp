// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/level3_distributed/centralized/served.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

struct Trained {
  std::vector<float> values, tested;
};

/// Trains a number of steps of a scheme with `workers` workers, and returns the values that a test
/// run sees.
Trained steps_of(DistributedOptimizer& scheme, int steps, int worker, int workers) {
  Trained result;
  for (int step = 0; step < steps; ++step) (void)scheme.step(batch_of(step, worker, workers));
  Network& network = scheme.executor().network();
  result.values = values_of(network);
  scheme.begin_test();
  result.tested = values_of(network);
  scheme.end_test();
  CHECK(values_of(network) == result.values);
  return result;
}

/// Compares training with servers and training by all-reduce among the same workers.
void compare(const std::string& rule, const std::string& modifier, const Settings& settings) {
  const Settings shorter = rule == "lbfgs" ? Settings{{"iterations", 3}} : Settings{};
  const auto& entry = distributed_optimizers().at("consistent_centralized");
  const RankRole role = entry.role(world()->rank(), world()->size(), settings);
  const auto served =
      scheme_of("consistent_centralized", settings, rule_of(rule, modifier, shorter));
  Trained mine;
  drive(*served, role.works(), [&] { mine = steps_of(*served, 2, role.share, role.shares); });
  const auto workers = world()->split(role.works() ? 0 : -1);
  if (!workers) return;
  const auto dense = scheme_of("consistent_decentralized", {{"all_reduce", "ring"}},
                               rule_of(rule, modifier, shorter), workers);
  const Trained expected = steps_of(*dense, 2, role.share, role.shares);
  CHECK(same_on(*workers, mine.values));
  CHECK(same_on(*workers, mine.tested));
  // A sum of two has one order. Over more it differs: by some 2^-24 of a gradient, which rules that
  // divide by its size (Adam) make as much of a step where it is near to zero, and Rprop, Lion and
  // sign methods a whole step of, of at most 0.03 of the largest parameter, twice. A line
  // search may take another turn altogether.
  const bool searches = rule == "lbfgs" || rule == "stochastic_lbfgs";
  const double bound = role.shares <= 2 ? 0 : searches ? 1 : 2 * 0.03;
  CHECK(difference(mine.values, expected.values) <= bound);
  CHECK(difference(mine.tested, expected.tested) <= bound);
  // The comparison is not vacuous: the parameters changed.
  CHECK(difference(mine.values, values_of(*std::make_unique<Network>(lenet()))) > 0);
}

bool is_one(const std::string& rule) { return rule == "lbfgs" || rule == "stochastic_lbfgs"; }

}  // namespace

TEST_CASE("a server that trains gives what all-reduce gives, for every rule") {
  for (const auto& [rule, entry] : optimizers().entries()) {
    INFO(rule);
    compare(rule, "", {{"server", "works"}});
  }
}

TEST_CASE("a server that serves alone gives what all-reduce among its workers gives") {
  if (world()->size() == 1) return;
  for (const auto& [rule, entry] : optimizers().entries()) {
    INFO(rule);
    compare(rule, "", {{"server", "serves"}});
  }
}

TEST_CASE("so do several servers, of which each updates whole tensors") {
  for (const auto& [rule, entry] : optimizers().entries()) {
    if (is_one(rule)) continue;
    INFO(rule);
    if (world()->size() >= 2) compare(rule, "", {{"server", "works"}, {"shards", 2}});
    if (world()->size() >= 3) compare(rule, "", {{"server", "serves"}, {"shards", 2}});
  }
}

TEST_CASE("modifiers act at the servers, on the averaged gradients") {
  for (const std::string modifier : {"clip_norm", "loss_scale", "ema", "lookahead", "accumulate"}) {
    INFO(modifier);
    compare("momentum", modifier, {{"server", "works"}});
    if (world()->size() >= 2) {
      compare("momentum", modifier, {{"server", "works"}, {"shards", 2}});
      compare("momentum", modifier, {{"server", "serves"}});
    }
    if (world()->size() >= 3) compare("momentum", modifier, {{"server", "serves"}, {"shards", 2}});
  }
}

TEST_CASE("a step of two runs, at other parameters each, is the server's as well") {
  compare("sgd", "sam", {{"server", "works"}});
  if (world()->size() >= 2) compare("sgd", "sam", {{"server", "serves"}});
}

TEST_CASE("a step moves each worker's gradient up and the parameters down, and a word for each") {
  const int ranks = world()->size();
  if (ranks == 1) return;
  const auto scheme =
      scheme_of("consistent_centralized", {{"server", "serves"}}, rule_of("momentum"));
  // In one piece, with the padding between tensors.
  const auto& parameters = scheme->executor().network().parameters();
  const std::int64_t bytes = static_cast<const std::byte*>(parameters.back().gradient.raw()) -
                             static_cast<const std::byte*>(parameters.front().gradient.raw()) +
                             std::int64_t(parameters.back().gradient.bytes());
  const int workers = ranks - 1;
  const Traffic before = world()->traffic();
  drive(*scheme, world()->rank() < workers, [&] {
    (void)scheme->step(batch_of(0, world()->rank(), workers));
    const auto by_call = world()->traffic().since(before).by_call;
    constexpr std::int64_t kWord = detail::ServerMessage::kBytes;
    // A worker sends the gradient, the first one also the start of a step. Servers send two
    // requests.
    CHECK(by_call.at("send").bytes_sent == bytes + kWord * (world()->rank() == 0 ? 2 : 1));
    CHECK(by_call.at("receive").bytes_received == bytes + 2 * kWord);
  });
}

TEST_CASE("more servers than there can be are refused by name") {
  const int ranks = world()->size();
  const auto make = [&](const Settings& settings) {
    (void)scheme_of("consistent_centralized", settings, rule_of("sgd"));
  };
  CHECK_THROWS_AS(make({{"server", "works"}, {"shards", ranks + 1}}), ValueError);
  CHECK_THROWS_WITH(make({{"server", "serves"}, {"shards", ranks}}),
                    Catch::Contains("one must train"));
  CHECK_THROWS_AS(make({{"server", "works"}, {"shards", 0}}), ValueError);
  CHECK_THROWS_AS(make({{"server", "sometimes"}}), ValueError);
}

TEST_CASE("a rule to which all parameters are one cannot be cut, and says so on every rank") {
  if (world()->size() == 1) return;
  CHECK_THROWS_AS(
      scheme_of("consistent_centralized", {{"server", "works"}, {"shards", 2}}, rule_of("lbfgs")),
      Unsupported);
}

TEST_CASE("gradients that are at a server cannot be read at a worker") {
  const auto scheme =
      scheme_of("consistent_centralized", {{"server", "works"}}, rule_of("momentum"));
  CHECK_THROWS_AS(scheme->read_gradients([](ParameterRange, double) {}), Unsupported);
}
