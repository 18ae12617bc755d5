// SPDX-License-Identifier: Apache-2.0
// Executors whose runs take as long as a script says.
#include "level1_network/auto/executor_race.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/cache_folder.hpp"
#include "tests/level1_network/planted_faults.hpp"
#include "tests/level1_network/timed_frameworks.hpp"

using namespace d5;

namespace {

std::unique_ptr<GraphExecutor> slow_chain() {
  timed::use_frameworks();
  return make_executor(timed::chain(), {.frameworks = {"slow", "reference"}});
}

/// The n-th run takes `seconds[n]`, and then from the first on again; `after_others` more where
/// another one ran before.
class ScriptedExecutor final : public d5::testing::WrappedExecutor {
 public:
  explicit ScriptedExecutor(std::vector<double> seconds, double after_others = 0)
      : WrappedExecutor("scripted", slow_chain()),
        seconds_(std::move(seconds)),
        after_others_(after_others) {}
  const ValueMap& inference(const ValueMap& inputs) override {
    const double before = timed::world.now;
    const ValueMap& outputs = inner().inference(inputs);
    timed::world.now = before + seconds_[runs_++ % seconds_.size()];
    if (std::exchange(last, this) != this) timed::world.now += after_others_;
    return outputs;
  }
  const ValueMap& inference_and_backprop(const ValueMap&, std::string_view) override {
    throw Unsupported("inference alone");
  }
  std::size_t runs() const { return runs_; }

 private:
  static inline const ScriptedExecutor* last = nullptr;
  std::vector<double> seconds_;
  double after_others_;
  std::size_t runs_ = 0;
};

/// The rivals of "first", in their order "second", "third".
struct Race {
  Network network = timed::chain();
  ValueMap inputs{{"x", Tensor::zeros(DType::float32, {2})}};
  ExecutorRace race{network, inputs, "", timed::clock};

  Race(std::vector<ScriptedExecutor*> executors, double most_seconds = 1e9) {
    const std::vector<std::string> names = {"first", "second", "third"};
    for (std::size_t i = 0; i < executors.size(); ++i) race.add(names.at(i), *executors[i]);
    race.run(most_seconds);
  }
  Comparison ratio(const std::string& name) const {
    for (const auto& way : race.ways()) {
      if (way.name == name) return way.ratio;
    }
    return {};
  }
};

/// Before the first round.
constexpr std::size_t kUntimed = 3;
/// Runs of the first, which judges the others if the reference lacks such operators: three for
/// rounding, and one on other inputs, which change its output.
constexpr std::size_t kJudging = 4;
/// Runs of the winner, which is judged once more.
constexpr std::size_t kAfter = 1;

}  // namespace

TEST_CASE("a race ends with the first six rounds where these tell who is the fastest") {
  ScriptedExecutor first({10}), second({8});
  const Race race({&first, &second});
  CHECK(race.race.winner() == "second");
  CHECK(second.runs() == kUntimed + 6 + kAfter);
  CHECK(race.ratio("first").ratio_interval.low > 1);
}

TEST_CASE("a race goes on while it is undecided, without those that are surely slower") {
  // Two of twelve rounds are slower for the second: six of them do not tell, twelve do.
  ScriptedExecutor first({10}), second({8, 8, 11, 8, 8, 8}), third({12});
  const Race race({&first, &second, &third});
  CHECK(race.race.winner() == "second");
  CHECK(third.runs() == kUntimed + 6);
  CHECK(first.runs() == kJudging + kUntimed + 12);
  CHECK(second.runs() == kUntimed + 12 + kAfter);
  CHECK(race.ratio("first").ratio_interval.low > 1);
  CHECK(race.ratio("third").ratio_interval.low > 1);  // over its six rounds
}

TEST_CASE("an undecided race is won by the better median, in either order") {
  // Three of five rounds are faster for the second: no interval of 24 tells.
  const std::vector<double> noisy = {8, 11, 8, 11, 8};
  {
    ScriptedExecutor first({10}), second(noisy);
    const Race race({&first, &second});
    CHECK(race.race.winner() == "second");
    CHECK(second.runs() == kUntimed + 24 + kAfter);
    CHECK(race.ratio("first").ratio_interval.low <= 1);
  }
  ScriptedExecutor first(noisy), second({10});
  CHECK(Race({&first, &second}).race.winner() == "first");
}

TEST_CASE("a race ends when its time is over, after six rounds at least") {
  ScriptedExecutor first({10}), second({8, 11, 8, 11, 8});
  const Race race({&first, &second}, GENERATE(0.0, 100.0));
  CHECK(second.runs() == kUntimed + 6 + kAfter);
}

TEST_CASE("an executor twice as slow as another leaves after two rounds, unless it was first") {
  ScriptedExecutor first({30}), second({10}), third({21});
  const Race race({&first, &second, &third});
  CHECK(race.race.winner() == "second");
  CHECK(third.runs() == kUntimed + 2);
  REQUIRE(race.race.refusals().size() == 1);
  CHECK(race.race.refusals().at(0).reason == "it takes 2.1 times as long as second");
  CHECK(race.ratio("first").ratio == 3);
}

TEST_CASE("short runs are timed together, after as many that are not") {
  // The first one's threads wait for those of the second to sleep, once.
  ScriptedExecutor first({1e-5}, 1e-3), second({2e-5});
  const Race race({&first, &second});
  CHECK(race.race.winner() == "first");
  CHECK(race.ratio("second").ratio == Approx(2));
}

TEST_CASE(
    "an executor that is wrong only after some runs, or returns cached results, does not win") {
  const auto [fault, why] = GENERATE(table<std::string, std::string>(
      {{"wrong-after-ten", "after its rounds wrong answers: output y"},
       {"stale",
        "after its rounds wrong answers: its outputs do not change although its inputs do"}}));
  Network network("small");
  network.add_input("x", DType::float32, {2});
  network.add_node("Sigmoid", {"x"}, {"y"});
  network.add_output("y");
  const ValueMap inputs{{"x", Tensor::of<float>({2}, {0, 1})}};
  // The wrong one is the faster in three of five rounds: no interval tells, and it runs in all.
  class Timed final : public d5::testing::WrappedExecutor {
   public:
    Timed(std::unique_ptr<GraphExecutor> inner, std::vector<double> seconds)
        : WrappedExecutor("timed", std::move(inner)), seconds_(std::move(seconds)) {}
    const ValueMap& inference(const ValueMap& fed) override {
      timed::world.now += seconds_[runs_++ % seconds_.size()];
      return inner().inference(fed);
    }
    const ValueMap& inference_and_backprop(const ValueMap&, std::string_view) override {
      throw Unsupported("inference alone");
    }

   private:
    std::vector<double> seconds_;
    std::size_t runs_ = 0;
  };
  Timed right(make_executor(network), {10});
  Timed wrong(std::make_unique<planted::Executor>(network, planted::faults().at(fault)()),
              {8, 11, 8, 11, 8});
  ExecutorRace race(network, inputs, "", timed::clock);
  race.add("right", right);
  race.add("wrong", wrong);
  race.run(1e9);
  CHECK(race.winner() == "right");
  REQUIRE(race.refusals().size() == 1);
  CHECK_THAT(race.refusals().front().reason, Catch::Contains(why));
  CHECK(inputs.at("x").tensor().span<float>()[1] == 1);
}

namespace {

/// Candidates for y = tanh(x): one is right, and so is the other if its first number is
/// nonnegative.
struct RaceOnDraws {
  RaceOnDraws() {
    network.add_input("x", DType::float32, {2});
    network.add_node("Tanh", {"x"}, {"y"});
    network.add_output("y");
  }
  Network network{"small"};
  ValueMap inputs{{"x", Tensor::of<float>({2}, {0.5F, 1})}};
  std::unique_ptr<GraphExecutor> right = make_executor(network);
  planted::Executor wrong{network, planted::faults().at("wrong-below-zero")()};
  ExecutorRace race{network, inputs, "", {}};

  /// Draws of seeds 5, 6 and 7 begin with 0.25, -0.5 and -1.
  void run(double most_seconds, const std::string& spoiled_name = "x") {
    race.add("right", *right);
    race.add("wrong", wrong);
    race.judge_also_on(
        [&](std::uint64_t seed, std::size_t) {
          const std::vector<float> firsts = {0.25F, -0.5F, -1};
          return ValueMap{{seed == 6 ? spoiled_name : "x",
                           Tensor::of<float>({2}, {firsts.at(std::size_t(seed) - 5), 1})}};
        },
        4, most_seconds);
    race.run(0);
  }
};

}  // namespace

TEST_CASE("an executor that is wrong on another draw of random inputs is refused, with the draw") {
  const d5::testing::OwnCacheFolder cache;
  RaceOnDraws drawn;
  drawn.run(1e9);
  CHECK(drawn.race.winner() == "right");
  CHECK(drawn.race.draws() == 4);
  REQUIRE(drawn.race.ways().size() == 1);  // alone it is timed all the same
  CHECK(drawn.race.ways().front().seconds > 0);
  REQUIRE(drawn.race.refusals().size() == 1);
  CHECK(drawn.race.refusals().front().framework == "wrong");
  CHECK_THAT(drawn.race.refusals().front().reason,
             Catch::StartsWith("on other random inputs (seed 6) wrong answers: output y: "));
}

TEST_CASE("draws for which there is no time, or that the network cannot take, judge nobody") {
  const d5::testing::OwnCacheFolder cache;
  RaceOnDraws without_time;
  without_time.run(0);
  CHECK(without_time.race.draws() == 1);
  RaceOnDraws refused;
  refused.run(1e9, "none");
  CHECK(refused.race.draws() == 3);
  for (const auto& refusal : refused.race.refusals()) {
    CHECK_THAT(refusal.reason, !Catch::Contains("seed 6"));
  }
}
