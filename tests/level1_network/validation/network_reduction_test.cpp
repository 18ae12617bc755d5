// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network_reduction.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <stop_token>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level1_network/network_check.hpp"
#include "level1_network/validation/delta_debugging.hpp"
#include "tests/level1_network/planted_faults.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// 40 nodes, of which the 25th and 26th are a Tanh and the Exp of it.
Network long_chain() {
  Network network("long");
  network.add_input("x", DType::float32, {6, 32});
  std::string now = "x";
  for (int i = 0; i < 40; ++i) {
    const std::string next = "y" + std::to_string(i);
    const char* op = i == 24 ? "Tanh" : i == 25 ? "Exp" : i % 2 == 0 ? "Sigmoid" : "Softplus";
    network.add_node(op, {now}, {next});
    now = next;
  }
  network.add_output(now);
  return network;
}

MakeExecutor made_by(const std::string& word) {
  planted::use_framework();
  return [word](Network network) { return open_executor(word, std::move(network)); };
}

ReducedNetwork reduced(const std::string& fault, const ReductionOptions& options = {}) {
  const Network network = long_chain();
  return reduce_network(network, made_by(fault), made_by("reference"), random_inputs(network),
                        options);
}

std::vector<std::string> operators_of(const Network& network) {
  std::vector<std::string> operators;
  for (const auto& node : network.graph().nodes) operators.push_back(node.op_type);
  return operators;
}

const std::vector<std::string> kPair = {"Tanh", "Exp"};

}  // namespace

TEST_CASE("delta debugging ends where no item can go") {
  const auto has = [](const std::vector<int>& all, int item) {
    return std::ranges::find(all, item) != all.end();
  };
  std::vector<int> items;
  for (int i = 0; i < 100; ++i) items.push_back(i);
  int tries = 0;
  const auto found = smallest_failing(items, [&](const std::vector<int>& some) {
    ++tries;
    return has(some, 3) && has(some, 50) && has(some, 51);
  });
  CHECK(found == std::vector<int>{3, 50, 51});
  CHECK(tries < 100);
  CHECK(smallest_failing(std::vector{7}, [](const auto&) { return true; }) == std::vector{7});
}

TEST_CASE("a wrong fusion of two nodes is cut down to the two, on the smallest sizes") {
  const ReducedNetwork small = reduced("planted:wrong-fusion");
  CHECK(operators_of(small.network) == kPair);
  CHECK(small.is_smallest);
  CHECK(small.nodes_before == 40);
  CHECK(small.tries < 60);
  CHECK(small.differing_runs == small.runs);
  CHECK_THAT(small.difference, Contains("where rounding explains"));
  REQUIRE(small.inputs.size() == 1);
  CHECK(small.inputs.begin()->second.tensor().shape() == Shape{1, 1});
  const float expected = small.expected.at("y25").tensor().item<float>();
  CHECK(small.answers.at("y25").tensor().item<float>() == Approx(1.05F * expected));
}

TEST_CASE("what a framework refuses is cut down, too, to the same complaint") {
  const ReducedNetwork small = reduced("planted:refuses-pair");
  CHECK(operators_of(small.network) == kPair);
  CHECK_THAT(small.difference, Contains("no Exp of a Tanh"));
  CHECK(small.answers.empty());
}

TEST_CASE("a difference that comes and goes is looked for several times, and told how often") {
  const ReducedNetwork small = reduced("planted:wrong-now-and-then");
  CHECK(operators_of(small.network) == kPair);
  CHECK(small.differing_runs > 0);
  CHECK(small.differing_runs < small.runs);
}

TEST_CASE("without a difference nothing is reduced") {
  const ReducedNetwork small = reduced("planted:honest");
  CHECK(small.difference.empty());
  CHECK(small.tries == 0);
  CHECK(small.network.graph().nodes.size() == 40);
}

TEST_CASE("when time is over, or somebody wishes, the smallest so far is kept") {
  std::stop_source stop;
  std::size_t smallest = 40;
  ReductionOptions options{.interrupt = {.token = stop.get_token()}};
  options.on_try = [&](const ReductionProgress& now) {
    smallest = now.nodes;
    if (now.nodes < 40) stop.request_stop();
  };
  const ReducedNetwork small = reduced("planted:wrong-fusion", options);
  CHECK_FALSE(small.is_smallest);
  CHECK(small.network.graph().nodes.size() == smallest);
  CHECK(smallest < 40);
  CHECK(smallest > 2);
  const ReducedNetwork none = reduced("planted:wrong-fusion", {.most_seconds = 0});
  CHECK_FALSE(none.is_smallest);
  CHECK(none.network.graph().nodes.size() == 40);
}

TEST_CASE("a network that draws random numbers is refused") {
  Network network("draws");
  network.add_input("x", DType::float32, {4});
  network.add_node("RandomNormalLike", {"x"}, {"y"});
  network.add_output("y");
  CHECK_THROWS_WITH(
      reduce_network(network, made_by("reference"), made_by("reference"), random_inputs(network)),
      Contains("draws random numbers"));
}

TEST_CASE("the folder that is left is a test folder, which fails in that framework alone") {
  planted::use_framework();
  const testing::TemporaryFolder folder;
  long_chain().save(folder / "long.onnx");
  const std::string left = folder / "few";
  NetworkCheckOptions options{.frameworks = {"planted:wrong-fusion"}, .reduce = left};
  const auto records = check_network(folder / "long.onnx", options);
  REQUIRE(records.size() == 1);
  CHECK(records[0].metric == "reduced_nodes");
  CHECK(records[0].samples == std::vector<double>{2});
  CHECK(records[0].status == Status::failed);
  CHECK(records[0].conditions.at("nodes before") == "40");
  CHECK_THAT(records[0].command, Contains("--reduce " + left));
  CHECK_THAT(read_file(left + "/README.md"),
             Contains("planted:wrong-fusion") && Contains("2 of 40 nodes are left"));
  CHECK(std::filesystem::exists(left + "/test_data_set_0/answer_0.pb"));
  CHECK(check_network(left, {.frameworks = {"planted:wrong-fusion"}})[0].status == Status::failed);
  CHECK(check_network(left, {.frameworks = {"reference"}})[0].status == Status::passed);
  // It is there now.
  CHECK_THROWS_WITH(check_network(folder / "long.onnx", options), Contains("is there already"));
  CHECK_THROWS_AS(check_network(folder / "long.onnx",
                                {.frameworks = {"reference", "torch"}, .reduce = left + "2"}),
                  ValueError);
}

TEST_CASE("frameworks with a Python of their own get a program in it") {
  const testing::TemporaryFolder folder;
  const ReducedNetwork small = reduced("planted:wrong-fusion");
  save_reduced(small, "openvino:compiled", folder / "few");
  CHECK_THAT(read_file(folder / "few/differs.py"), Contains("import openvino"));
  save_reduced(small, "planted:wrong-fusion", folder / "other");
  CHECK_FALSE(std::filesystem::exists(folder / "other/differs.py"));
  CHECK_THROWS_AS(save_reduced(small, "reference", "/proc/none/few"), IoError);
}

TEST_CASE("node by node all agree, and the whole does not: that is said") {
  const Network network = long_chain();
  const auto records = compare_nodes(network, made_by("planted:wrong-fusion"), made_by("reference"),
                                     random_inputs(network));
  CHECK_THAT(node_comparison_tables(records, Format::table),
             Contains("the whole differs, its 40 nodes do not") && Contains("--reduce FOLDER"));
}
