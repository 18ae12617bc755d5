// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/network_profile.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "d5/core/measuring/measure.hpp"
#include "d5/core/results/result_comparison.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::string condition(const Measurement& m, const std::string& name) {
  return condition_of(m, name);
}

const Measurement* find(const std::vector<Measurement>& records, const std::string& by,
                        const std::string& name, const std::string& metric,
                        const std::string& direction = "forward") {
  for (const auto& m : records) {
    if (condition(m, "by") == by && condition(m, by) == name && m.metric == metric &&
        condition(m, "direction") == direction) {
      return &m;
    }
  }
  return nullptr;
}

/// Two layers of a product and a Relu; loss is the mean.
Network layers() {
  Network network("layers");
  network.add_input("x", DType::float32, {4, 8});
  std::string now = "x";
  for (const std::string layer : {"block1.first", "block1.second"}) {
    network.add_parameter(layer + ".w", Tensor::zeros(DType::float32, {8, 8}));
    network.add_node("MatMul", {now, layer + ".w"}, {layer + ".m"}, {}, layer + ".product");
    network.add_node("Relu", {layer + ".m"}, {layer + ".r"}, {}, layer + ".relu");
    now = layer + ".r";
  }
  network.add_node("ReduceMean", {now}, {"loss"}, {{"keepdims", std::int64_t{0}}}, "mean");
  network.add_output("loss");
  return network;
}

struct Profiled {
  std::shared_ptr<NetworkProfile> profile = std::make_shared<NetworkProfile>();
  std::vector<Measurement> whole, parts;
};

Profiled profile_of(bool training, Network network = layers()) {
  const std::shared_ptr<GraphExecutor> executor = make_executor(std::move(network));
  const ValueMap inputs = random_inputs(executor->network());
  const Subject subject{.record = {.subject = "layers", .conditions = {{"pass", identity("step")}}},
                        .run =
                            [=] {
                              training ? (void)executor->inference_and_backprop(inputs, "loss")
                                       : (void)executor->inference(inputs);
                            },
                        .events = {&executor->events()}};
  Profiled result;
  result.whole = measure({subject}, {"time", [&] { return result.profile; }}, {.samples = 7});
  result.parts = profile_records(*result.profile, result.whole.back());
  return result;
}

}  // namespace

TEST_CASE("a profile has every node by the model's name, with a sample a run, work and memory") {
  const Profiled run = profile_of(false);
  REQUIRE(run.whole.back().metric == "profiled_time");
  CHECK(run.whole.back().samples.size() == 7);
  CHECK(run.whole.back().conditions.count("profile.clock seconds") == 1);
  const Measurement* time = find(run.parts, "node", "block1.first.product", "time");
  REQUIRE(time);
  CHECK(time->samples.size() == 7);
  CHECK(time->level == "operator");
  CHECK(condition(*time, "operator") == "MatMul");
  CHECK(condition(*time, "kernel") == "reference");
  const Measurement* rate = find(run.parts, "node", "block1.first.product", "flop_rate");
  REQUIRE(rate);
  CHECK(rate->samples.at(0) * time->samples.at(0) == Approx(2 * 4 * 8 * 8));
  CHECK(find(run.parts, "node", "block1.first.product", "bytes")->samples.at(0) ==
        4 * (4 * 8 + 8 * 8 + 4 * 8));
  CHECK(find(run.parts, "node", "block1.first.product", "memory")->samples.at(0) >= 4 * 4 * 8);
}

TEST_CASE("groups are sums of their nodes, and the shares of each grouping are one") {
  const Profiled run = profile_of(false);
  const auto seconds = [&](const char* by, const char* name) {
    return find(run.parts, by, name, "time")->samples.at(0);
  };
  CHECK(seconds("operator", "Relu") ==
        Approx(seconds("node", "block1.first.relu") + seconds("node", "block1.second.relu")));
  CHECK(seconds("layer", "block1.first") ==
        Approx(seconds("node", "block1.first.product") + seconds("node", "block1.first.relu")));
  for (const char* by : {"operator", "layer", "node"}) {
    double shares = 0;
    for (const auto& m : run.parts) {
      if (condition(m, "by") == by && m.metric == "share") shares += m.samples.at(0);
    }
    CHECK(shares == Approx(1));
  }
}

TEST_CASE("the rows of a table add up where a node holds a graph, whose nodes have rows too") {
  using subgraphs::node;
  const auto branch = [](std::int64_t chain) {
    std::vector<onnx::Node> nodes;
    std::string now = "x";
    for (std::int64_t i = 0; i < chain; ++i) {
      const std::string next = "t" + std::to_string(i);
      nodes.push_back(node("Tanh", {std::exchange(now, next)}, {next}));
    }
    return subgraphs::graph({}, std::move(nodes), {now});
  };
  Network network("branches");
  network.add_input("x", DType::float32, {64, 64});
  network.add_input("which", DType::boolean, {});
  network.add_node("If", {"which"}, {"y"}, {{"then_branch", branch(2)}, {"else_branch", branch(3)}},
                   "choice");
  network.add_output("y");
  const Profiled run = profile_of(false, std::move(network));
  for (const char* by : {"operator", "layer", "node"}) {
    double shares = 0, seconds = 0;
    for (const auto& m : run.parts) {
      if (condition(m, "by") != by) continue;
      if (m.metric == "share") shares += estimate(m).value;
      if (m.metric == "time") seconds += m.samples.at(2);
    }
    CAPTURE(by);
    CHECK(shares == Approx(1));
    CHECK(seconds == Approx(run.parts.front().samples.at(2) * run.whole.back().samples.at(2)));
  }
}

TEST_CASE("the first record is the part of whole runs that the steps took together") {
  const Profiled run = profile_of(true);
  const Measurement& share = run.parts.front();
  REQUIRE(share.metric == "steps_share");
  REQUIRE(share.samples.size() == 7);
  for (std::size_t i = 0; i < share.samples.size(); ++i) {
    double steps = 0;
    for (const auto& m : run.parts) {
      if (condition(m, "by") == "node" && m.metric == "time") steps += m.samples.at(i);
    }
    CHECK(share.samples[i] == Approx(steps / run.whole.back().samples.at(i)));
    CHECK(share.samples[i] <= 1);
  }
}

TEST_CASE("forward and backward are apart, and backward claims no rate of forward's work") {
  const Profiled run = profile_of(true);
  REQUIRE(find(run.parts, "node", "block1.second.product", "time", "forward"));
  REQUIRE(find(run.parts, "node", "block1.second.product", "time", "backward"));
  CHECK_FALSE(find(run.parts, "node", "block1.second.product", "flop_rate", "backward"));
  CHECK(find(run.parts, "node", "block1.second.product", "memory", "backward"));
}

TEST_CASE("a subject without an executor's events has no profile, and says why") {
  const auto profile = std::make_shared<NetworkProfile>();
  const auto records = measure({{.run = [] {}}}, {[&] { return profile; }}, {.samples = 3});
  CHECK(records.at(0).status == Status::unsupported);
  CHECK_THAT(records.at(0).reason, Contains("events"));
  CHECK(profile_records(*profile, records.at(0)).empty());
}

TEST_CASE("a network's benchmark with a profile has its records, and each pairs with itself") {
  const auto records =
      bench_network("lenet", {.metrics = {"time"}, .profile = true, .measuring = {.samples = 6}});
  CHECK(find(records, "node", "conv1", "time"));
  const Results results{.environment = {}, .measurements = records};
  std::set<std::string> nodes;
  for (const auto& pair : compare_results(results, results))
    nodes.insert(condition(pair.a, "node"));
  CHECK(nodes.size() > 5);
  for (const auto& m : records) CHECK_THAT(m.command, Contains(" --profile"));

  const std::string text = profile_tables(records, Format::table);
  CHECK_THAT(text, Contains("unobserved") && Contains("conv1") && Contains("flop/s") &&
                       Contains("operators take"));
}

TEST_CASE("constants of any size are computed once, not in each run") {
  Network network("constants");
  network.add_input("x", DType::float32, {std::int64_t{1}});
  network.add_constant("shape", Tensor::vector(std::vector<std::int64_t>{1 << 20}));
  network.add_node("ConstantOfShape", {"shape"}, {"zeros"});
  network.add_node("Exp", {"zeros"}, {"ones"});
  network.add_node("Mul", {"ones", "x"}, {"y"});
  network.add_output("y");
  struct Seen final : ExecutionEvent {
    std::vector<std::string> ops;
    void before_node(const StepInfo& step) override { ops.push_back(step.node.op_type); }
  };
  const auto seen = std::make_shared<Seen>();
  const auto executor = make_executor(network);
  executor->events().add(seen);
  const ValueMap inputs{{"x", Tensor::of<float>({1}, {3})}};
  for (int run = 0; run < 2; ++run) {
    CHECK(executor->inference(inputs).at("y").tensor().span<float>()[7] == 3);
  }
  CHECK(seen->ops == std::vector<std::string>{"Mul", "Mul"});
}
