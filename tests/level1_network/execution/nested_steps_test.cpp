// SPDX-License-Identifier: Apache-2.0
// Graphs within nodes, as observers, traces and metrics see them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/measure.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/profile/network_profile.hpp"
#include "tests/level1_network/subgraph_networks.hpp"

using namespace d5;

namespace {

using Names = std::vector<std::string>;

subgraphs::Node named_node(subgraphs::Node node, const std::string& name) {
  node.name = name;
  return node;
}

/// y = relu of exp(exp(x)), in a loop, or of tanh(x).
Network nested_branches(bool known_condition = false) {
  Network network("branches");
  network.add_input("x", DType::float32, {64, 64});
  network.add_input("c", DType::boolean, {});
  const auto body =
      subgraphs::graph({"i", "go", "v"},
                       {named_node(subgraphs::node("Identity", {"go"}, {"goes"}), "go"),
                        named_node(subgraphs::node("Exp", {"v"}, {"w"}), "exp")},
                       {"goes", "w"});
  const auto then_branch = subgraphs::graph(
      {},
      {named_node(
           subgraphs::node("Constant", {}, {"two"}, {{"value", Tensor::scalar(std::int64_t{2})}}),
           "two"),
       named_node(subgraphs::node("Loop", {"two", "", "x"}, {"t"}, {{"body", body}}), "twice")},
      {"t"});
  const auto else_branch =
      subgraphs::graph({}, {named_node(subgraphs::node("Tanh", {"x"}, {"t"}), "tanh")}, {"t"});
  std::string condition = "c";
  if (known_condition) {
    condition = "known";
    network.add_constant("known", Tensor::scalar(false));
  }
  network.add_node("If", {condition}, {"t"},
                   {{"then_branch", then_branch}, {"else_branch", else_branch}}, "choice");
  network.add_node("Relu", {"t"}, {"y"}, {}, "last");
  network.add_output("y");
  return network;
}

ValueMap nested_inputs(bool condition) {
  return {{"x", Tensor::zeros(DType::float32, {64, 64})}, {"c", Tensor::scalar(condition)}};
}

struct SeenPaths final : ExecutionEvent {
  void before_node(const StepInfo& step) override { seen.push_back(step.path); }
  void before_nested_node(const StepInfo& step) override { seen.push_back("> " + step.path); }
  void after_nested_node(const StepInfo& step) override { seen.push_back("< " + step.path); }
  Names seen;
};

Names seen_paths(const Network& network, bool condition) {
  const auto executor = make_executor(network);
  const auto paths = std::make_shared<SeenPaths>();
  executor->events().add(paths);
  (void)executor->inference(nested_inputs(condition));
  return paths->seen;
}

}  // namespace

TEST_CASE("steps of nested graphs are reported within their node, by path") {
  CHECK(seen_paths(nested_branches(), false) ==
        Names{"choice", "> choice/else_branch/tanh", "< choice/else_branch/tanh", "last"});
  const std::string loop = "choice/then_branch/twice", body = loop + "/body/";
  Names expected{"choice", "> " + loop};
  for (int round = 0; round < 2; ++round) {
    for (const char* node : {"go", "exp"}) {
      expected.push_back("> " + body + node);
      expected.push_back("< " + body + node);
    }
  }
  expected.insert(expected.end(), {"< " + loop, "last"});
  CHECK(seen_paths(nested_branches(), true) == expected);
}

TEST_CASE("an If whose condition is known is planned as the branch that it takes") {
  CHECK(seen_paths(nested_branches(true), true) == Names{"choice/else_branch/tanh", "last"});
  const auto executor = make_executor(nested_branches(true));
  const auto& y = executor->inference(nested_inputs(true)).at("y").tensor();
  CHECK(y.data<float>()[0] == 0);  // exp(exp(0)) is e
}

TEST_CASE("a trace has a span of each step in a graph, inside that of the node") {
  const auto executor = make_executor(nested_branches());
  Trace::start();
  (void)executor->inference(nested_inputs(false));
  Trace::stop();
  const Timeline timeline = Trace::timeline();
  const auto span = [&](const std::string& name) {
    const auto place = std::ranges::find(timeline.records, name, &TraceRecord::name);
    if (place == timeline.records.end()) FAIL("no span " << name);
    return *place;
  };
  CHECK(span("Tanh 'choice/else_branch/tanh'").parent == span("If 'choice'").id);
}

TEST_CASE("an interrupt ends a run between two steps of a graph") {
  const auto executor = make_executor(nested_branches());
  std::stop_source stop;
  struct Stops final : ExecutionEvent {
    explicit Stops(std::stop_source& source) : source(source) {}
    void before_node(const StepInfo& step) override {
      if (step.path == "choice") source.request_stop();
    }
    std::stop_source& source;
  };
  executor->events().add(std::make_shared<ExecutionInterrupt>(Interrupt{stop.get_token()}));
  executor->events().add(std::make_shared<Stops>(stop));
  CHECK_THROWS_AS(executor->inference(nested_inputs(false)), Interrupted);
}

TEST_CASE("a profile has the steps of graphs, and no time twice") {
  const std::shared_ptr<GraphExecutor> executor = make_executor(nested_branches());
  const auto profile = std::make_shared<NetworkProfile>();
  const Subject subject{.record = {.subject = "branches"},
                        .run = [&] { (void)executor->inference(nested_inputs(true)); },
                        .events = {&executor->events()}};
  const auto whole = measure({subject}, {"time", [&] { return profile; }}, {.samples = 5});
  const auto& steps = profile->steps();
  const auto step = [&](const std::string& path) {
    return std::ranges::find(steps, path, &NetworkProfile::Step::node);
  };
  const std::string loop = "choice/then_branch/twice";
  REQUIRE(step(loop + "/body/exp") != steps.end());
  CHECK(step(loop + "/body/exp")->cost.flop == 2 * 64 * 64);  // the sum of both rounds
  CHECK(steps[step(loop + "/body/exp")->holder].node == loop);
  CHECK(steps[step(loop)->holder].node == "choice");
  CHECK(step("choice")->holder == NetworkProfile::kNone);

  const auto records = profile_records(*profile, whole.back());
  const auto seconds = [&](const std::string& by, const std::string& name,
                           const std::string& metric = "time") {
    for (const auto& m : records) {
      const auto place = m.conditions.find(by);
      if (m.metric == metric && m.conditions.at("by") == by && place != m.conditions.end() &&
          place->second == name) {
        return m.samples.front();
      }
    }
    FAIL("no record of " << name);
    return 0.0;
  };
  const auto sum = [&](const std::string& by) {
    double result = 0;
    for (const auto& m : records) {
      if (m.metric == "time" && m.conditions.at("by") == by) result += m.samples.front();
    }
    return result;
  };
  const auto with_graphs = [&](const std::string& node) {
    return seconds("node", node, "time_with_graphs");
  };
  CHECK(with_graphs("choice") >= with_graphs(loop));
  CHECK(with_graphs(loop) >= seconds("node", loop + "/body/exp"));
  CHECK(seconds("operator", "If") == seconds("node", "choice"));
  CHECK(seconds("node", "choice") < with_graphs("choice"));
  // The same readings of the clock, added up in another order.
  CHECK(sum("operator") == Approx(sum("node")).epsilon(1e-9));
}

TEST_CASE("time between the steps of a nested graph is overhead") {
  /// Costs time within the If, but in none of the steps of its graph.
  struct Slow final : ExecutionEvent {
    void before_nested_node(const StepInfo&) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  };
  const std::shared_ptr<GraphExecutor> executor = make_executor(nested_branches());
  executor->events().add(std::make_shared<Slow>());
  const Subject subject{.record = {.subject = "branches"},
                        .run = [&] { (void)executor->inference(nested_inputs(false)); },
                        .events = {&executor->events()}};
  const auto results = measure({subject}, {"framework_overhead"}, {.samples = 5});
  CHECK(*std::ranges::min_element(results.back().samples) >= 4.9e-3);  // a sleep of 5 ms
}

namespace {

/// y = relu of what an If gives: x, or x in the shape `sizes`, which is a constant outside.
Network reshaping(const std::vector<std::int64_t>& sizes) {
  Network network("reshaping");
  network.add_input("x", DType::float32, {64, 64});
  network.add_input("c", DType::boolean, {});
  network.add_constant("sizes", Tensor::vector<std::int64_t>(sizes));
  const auto then_branch = subgraphs::graph(
      {}, {named_node(subgraphs::node("Reshape", {"x", "sizes"}, {"r"}), "reshape")}, {"r"});
  const auto else_branch =
      subgraphs::graph({}, {named_node(subgraphs::node("Exp", {"x"}, {"e"}), "exp")}, {"e"});
  network.add_node("If", {"c"}, {"t"}, {{"then_branch", then_branch}, {"else_branch", else_branch}},
                   "choice");
  network.add_node("Relu", {"t"}, {"y"}, {}, "last");
  network.add_output("y");
  return network;
}

struct PlannedBytes final : ExecutionEvent {
  void before_node(const StepInfo& step) override { of[step.path] = step.memory; }
  void before_nested_node(const StepInfo& step) override { before_node(step); }
  std::map<std::string, std::size_t> of;
};

}  // namespace

TEST_CASE("what an If gives is planned where its branches agree, and constants are known inside") {
  const bool agree = GENERATE(true, false);
  const auto executor = make_executor(
      reshaping(agree ? std::vector<std::int64_t>{64, 64} : std::vector<std::int64_t>{4096}));
  const auto bytes = std::make_shared<PlannedBytes>();
  executor->events().add(bytes);
  for (const bool condition : {true, false, true}) {
    const Tensor& y = executor->inference(nested_inputs(condition)).at("y").tensor();
    CHECK(y.shape().rank() == (condition && !agree ? 1 : 2));
    CHECK(y.data<float>()[4095] == (condition ? 0 : 1));
  }
  CHECK(bytes->of.at("choice/then_branch/reshape") == 64 * 64 * 4);
  CHECK(bytes->of.at("choice") == (agree ? 64 * 64 * 4 : 0));
  CHECK(bytes->of.at("last") == (agree ? 64 * 64 * 4 : 0));
}
