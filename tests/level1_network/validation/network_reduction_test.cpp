// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/network_reduction.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <stop_token>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/validation/network_check.hpp"
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

Tensor filled(const Shape& shape, float number) {
  Tensor tensor = Tensor::empty(DType::float32, shape);
  std::ranges::fill(tensor.span<float>(), number);
  return tensor;
}

/// Four layers of a product and a function; the third of these is an Exp.
Network layers() {
  Network network("layers");
  network.add_input("x", DType::float32, {3, 4});
  std::string now = "x";
  for (int i = 0; i < 4; ++i) {
    const std::string n = std::to_string(i);
    network.add_parameter("w" + n, filled({4}, 0.5F + 0.1F * float(i)));
    network.add_node("Mul", {now, "w" + n}, {"p" + n});
    network.add_node(i == 2 ? "Exp" : "Sigmoid", {"p" + n}, {"y" + n});
    now = "y" + n;
  }
  network.add_output(now);
  return network;
}

/// Three nodes on one element, with an Exp in the middle.
Network three_nodes() {
  Network network("three");
  network.add_input("x", DType::float32, {1});
  network.add_node("Sigmoid", {"x"}, {"a"});
  network.add_node("Exp", {"a"}, {"b"});
  network.add_node("Sigmoid", {"b"}, {"c"});
  network.add_output("c");
  return network;
}

ReducedNetwork reduced(const Network& network, const std::string& fault,
                       const ReductionOptions& options) {
  return reduce_network(network, made_by(fault), made_by("reference"), random_inputs(network),
                        options);
}

const std::vector<std::string> kPair = {"Tanh", "Exp"};

}  // namespace

TEST_CASE("a wrong fusion of two nodes is cut down to the two, on the smallest sizes") {
  const ReducedNetwork small = reduced("planted:wrong-fusion");
  CHECK(operators_of(small.network) == kPair);
  CHECK(small.is_smallest);
  CHECK(small.nodes_before == 40);
  CHECK(small.tries < 60);
  CHECK(small.differing_runs == small.runs);
  CHECK_THAT(small.difference.words, Contains("where rounding explains"));
  REQUIRE(small.inputs.size() == 1);
  CHECK(small.inputs.begin()->second.tensor().shape() == Shape{1, 1});
  const float expected = small.expected.at("y25").tensor().item<float>();
  CHECK(small.answers.at("y25").tensor().item<float>() == Approx(1.05F * expected));
}

TEST_CASE("what a framework refuses is cut down, too, to the same complaint") {
  const ReducedNetwork small = reduced("planted:refuses-pair");
  CHECK(operators_of(small.network) == kPair);
  CHECK_THAT(small.difference.words, Contains("no Exp of a Tanh"));
  CHECK(small.answers.empty());
}

TEST_CASE("an intermittent difference is tried several times, and its frequency is reported") {
  const ReducedNetwork small = reduced("planted:wrong-now-and-then");
  CHECK(operators_of(small.network) == kPair);
  CHECK(small.differing_runs > 0);
  CHECK(small.differing_runs < small.runs);
}

TEST_CASE("without a difference nothing is reduced") {
  const ReducedNetwork small = reduced("planted:honest");
  CHECK(small.difference.kind == DifferenceKind::none);
  CHECK(small.tries == 0);
  CHECK(small.network.graph().nodes.size() == 40);
}

TEST_CASE("the smallest so far is kept at the time limit or an interrupt") {
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
  CHECK_THROWS_AS(check_network(folder / "long.onnx",
                                {.frameworks = {"reference", "torch"}, .reduce = left + "2"}),
                  ValueError);
}

namespace {

/// Quantizes x in steps of 1/4.
Network quantized() {
  Network network("quantized");
  network.add_constant("quarter", Tensor::scalar(0.25F));
  network.add_constant("none", Tensor::scalar(std::uint8_t{9}));
  network.add_input("x", DType::float32, {4});
  return network;
}

}  // namespace

TEST_CASE("a quantized number that is one step off is no evidence if the whole is far off") {
  Network network = quantized();
  network.add_node("Sigmoid", {"x"}, {"a"});
  network.add_node("Sigmoid", {"a"}, {"b"});
  network.add_node("QuantizeLinear", {"b", "quarter", "none"}, {"c"});  // 0.5 to 0.73, step 0.25
  network.add_node("DequantizeLinear", {"c", "quarter", "none"}, {"d"});
  network.add_node("Tanh", {"d"}, {"e"});
  network.add_node("Exp", {"e"}, {"f"});
  network.add_output("f");
  const ReducedNetwork small = reduced(network, "planted:wrong-fusion-and-a-step", {});
  CHECK(operators_of(small.network) == kPair);
}

TEST_CASE("what an operator of com.microsoft gives may be all that is left") {
  Network network = quantized();
  network.add_node("QuantizeLinear", {"x", "quarter", "none"}, {"a"});
  onnx::Node& add = network.add_node(
      "QLinearAdd", {"a", "quarter", "none", "a", "quarter", "none", "quarter", "none"}, {"b"});
  add.domain = "com.microsoft";
  add.opset = 1;
  network.add_node("DequantizeLinear", {"b", "quarter", "none"}, {"c"});
  network.add_output("c");
  onnx::Model model = network.model();
  model.opset_imports["com.microsoft"] = 1;
  const ReducedNetwork small =
      reduced(Network(std::move(model)), "planted:wrong-at-qlinear-add", {});
  CHECK(operators_of(small.network) == std::vector<std::string>{"QLinearAdd"});
  CHECK(small.inputs.at("a").tensor().shape() == Shape{1});
  const testing::TemporaryFolder folder;
  small.network.save(folder / "small.onnx");  // a file must declare what ONNX's rules do not tell
  CHECK(Network::load(folder / "small.onnx").graph().outputs.front().type.dtype == DType::uint8);
}

TEST_CASE("a crash and a hang are cut down to the node that brings them") {
  const ReducedNetwork crash =
      reduced("planted:crashes-at-exp", {.isolation = {.most_seconds = 30}});
  CHECK(operators_of(crash.network) == std::vector<std::string>{"Exp"});
  CHECK(crash.difference.kind == DifferenceKind::ended);
  CHECK_THAT(crash.difference.words, Contains("SIGSEGV"));
  CHECK(crash.is_smallest);
  CHECK(crash.expected.size() == 1);
  CHECK(crash.answers.empty());

  const ReducedNetwork hang =
      reduced(three_nodes(), "planted:hangs-at-exp", {.isolation = {.most_seconds = 1.5}});
  CHECK(operators_of(hang.network) == std::vector<std::string>{"Exp"});
  CHECK_THAT(hang.difference.words, Contains("no answer within 1.5 s"));
}

TEST_CASE("a reference that ends its process is no difference") {
  const Network network = long_chain();
  CHECK_THROWS_WITH(reduce_network(network, made_by("reference"), made_by("planted:crashes-at-exp"),
                                   random_inputs(network), {.isolation = {.most_seconds = 30}}),
                    Contains("the reference: crashed"));
}

TEST_CASE("in processes of their own the same is found") {
  const ReducedNetwork small = reduced("planted:wrong-fusion", {.isolation = {.most_seconds = 30}});
  CHECK(operators_of(small.network) == kPair);
  const float expected = small.expected.at("y25").tensor().item<float>();
  CHECK(small.answers.at("y25").tensor().item<float>() == Approx(1.05F * expected));
  // Another framework than the reference runs in none of this process's threads.
  const Network network = long_chain();
  CHECK(operators_of(reduce_network(network, made_by("planted:wrong-fusion"),
                                    made_by("planted:honest"), random_inputs(network),
                                    {.isolation = {.most_seconds = 30}})
                         .network) == kPair);
}

TEST_CASE("a wrong gradient is cut down to the node that gives it; forward sees nothing") {
  const Network network = layers();
  const std::string fault = "planted:wrong-gradient-of-exp";
  CHECK(reduced(network, fault, {}).difference.kind == DifferenceKind::none);
  const ReducedNetwork small = reduced(network, fault, {.passes = ReductionOptions::Passes::both});
  CHECK(operators_of(small.network) == std::vector<std::string>{"Exp"});
  CHECK(small.difference.kind == DifferenceKind::gradient);
  REQUIRE(small.gradients.size() == 1);  // the gradient of its input
  CHECK(small.inputs.empty());
  const float expected = small.expected_gradients.at("p2").tensor().item<float>();
  CHECK(small.gradients.at("p2").tensor().item<float>() == Approx(1.05F * expected));
}

TEST_CASE("a small difference is not cut down to where rounding begins") {
  Network network("tanh");
  network.add_input("x", DType::float32, {64});
  network.add_node("Tanh", {"x"}, {"y"});
  network.add_output("y");
  const ReducedNetwork small = reduced(network, "planted:off-by-size", {});
  CHECK(small.size_before < 64);
  CHECK(small.difference.size >= small.size_before / 2);
  CHECK(small.inputs.at("x").tensor().elements() < 64);
}

TEST_CASE("what takes longer is cut down to the node that does; gradients are another question") {
  const Network network = three_nodes();
  const ReducedNetwork small = reduced(network, "planted:slow-at-exp", {.slower = 20});
  CHECK(operators_of(small.network) == std::vector<std::string>{"Exp"});
  CHECK(small.difference.kind == DifferenceKind::slower);
  CHECK_THAT(small.difference.words, Contains("times as long [") && Contains("more than 20"));
  CHECK(reduced(network, "planted:honest", {.slower = 20}).difference.kind == DifferenceKind::none);
  CHECK_THROWS_AS(
      reduced(network, "planted:honest", {.passes = ReductionOptions::Passes::both, .slower = 2}),
      ValueError);
}

TEST_CASE("the folder of what takes longer names the bench of both") {
  const testing::TemporaryFolder folder;
  planted::use_framework();
  three_nodes().save(folder / "three.onnx");
  const auto record = check_network(folder / "three.onnx", {.frameworks = {"planted:slow-at-exp"},
                                                            .against = "planted:honest",
                                                            .reduce = folder / "few",
                                                            .slower = 20})[0];
  CHECK(record.samples == std::vector<double>{1});
  CHECK_THAT(record.command, Contains("--slower 20"));
  CHECK_THAT(read_file(folder / "few/README.md"),
             Contains("d5 net bench FOLDER --framework planted:honest,planted:slow-at-exp"));
}

TEST_CASE("a constant whose value matters stays as it is") {
  Network network("scaled");
  network.add_input("x", DType::float32, {2, 5});
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    network.add_constant("c" + n, filled({}, float(i)));
    network.add_node("Add", {i == 0 ? "x" : "y" + std::to_string(i - 1), "c" + n}, {"y" + n});
  }
  network.add_output("y5");
  const ReducedNetwork small = reduced(network, "planted:wrong-at-constant-3", {});
  CHECK(operators_of(small.network) == std::vector<std::string>{"Add"});
  CHECK(small.network.fetch("c3").item<float>() == 3);
}

TEST_CASE("sizes are as small as they may be, and one node alone is shrunk, too") {
  Network network("wide");
  network.add_input("x", DType::float32, {2, 16, 9, 9});
  network.add_parameter("w", filled({12, 16, 3, 3}, 0.1F));
  network.add_node("Conv", {"x", "w"}, {"y"},
                   {{"strides", std::vector<std::int64_t>{1, 1}},
                    {"kernel_shape", std::vector<std::int64_t>{3, 3}}});
  network.add_output("y");
  const ReducedNetwork small = reduced(network, "planted:wrong-above-4-channels", {});
  CHECK(small.is_smallest);
  CHECK(small.network.graph().nodes.front().attributes.empty());
  CHECK(small.network.fetch("w").shape() == Shape{1, 5, 1, 1});
  CHECK(small.inputs.at("x").tensor().shape() == Shape{1, 5, 1, 1});
}

namespace {

/// A reduction of the network in `model` that is interrupted at the first smaller part.
std::vector<Measurement> cut_short(const std::string& model, NetworkCheckOptions options) {
  std::stop_source stop;
  options.interrupt = {.token = stop.get_token()};
  options.on_reduction = [&](const ReductionProgress& now) {
    if (now.nodes < 40) stop.request_stop();
  };
  return check_network(model, options);
}

}  // namespace

TEST_CASE("what was cut short goes on from there, and what is done is looked at once more") {
  planted::use_framework();
  const testing::TemporaryFolder folder;
  const std::string model = folder / "long.onnx", left = folder / "few/";
  long_chain().save(model);
  const NetworkCheckOptions options{.frameworks = {"planted:wrong-fusion"}, .reduce = left};
  const auto half = cut_short(model, options);
  CHECK_THAT(half[0].reason, Contains("the same command continues"));
  CHECK(std::filesystem::exists(left + "test_data_set_0/output_0.pb"));
  std::size_t first_seen = 0;
  NetworkCheckOptions seen = options;
  seen.on_reduction = [&](const ReductionProgress& now) {
    if (first_seen == 0) first_seen = now.nodes;
  };
  const auto whole = check_network(model, seen);
  CHECK(whole[0].conditions.at("seconds").number().value() >=
        half[0].conditions.at("seconds").number().value());
  CHECK(first_seen <= std::size_t(half[0].samples[0]));
  CHECK(whole[0].samples == std::vector<double>{2});
  CHECK(whole[0].conditions.at("nodes before") == "40");
  CHECK(whole[0].conditions.at("tries").number().value() >
        half[0].conditions.at("tries").number().value());
  const auto again = check_network(model, options);
  CHECK(again[0].samples == std::vector<double>{2});
  CHECK(again[0].conditions.at("tries") == whole[0].conditions.at("tries").text());
  CHECK(folder.names() == std::vector<std::string>{"few", "long.onnx"});
}

TEST_CASE("a folder of another reduction, or of none, is refused and stays") {
  planted::use_framework();
  const testing::TemporaryFolder folder;
  const std::string model = folder / "long.onnx", left = folder / "few";
  long_chain().save(model);
  (void)check_network(model, {.frameworks = {"planted:wrong-fusion"}, .reduce = left});
  const auto check = [&](const std::string& other, const std::string& fault, std::uint64_t seed) {
    return check_network(other,
                         {.frameworks = {fault}, .execution = {.seed = seed}, .reduce = left});
  };
  layers().save(folder / "other.onnx");
  CHECK_THROWS_WITH(check(folder / "other.onnx", "planted:wrong-fusion", 0),
                    Contains("reduction of another network"));
  CHECK_THROWS_WITH(check(model, "planted:wrong-fusion", 1), Contains("or other inputs"));
  CHECK_THROWS_WITH(check(model, "planted:refuses-pair", 0),
                    Contains("another framework, planted:wrong-fusion; now it is"));
  CHECK_THROWS_WITH(check_network(model, {.frameworks = {"planted:wrong-fusion"},
                                          .against = "planted:honest",
                                          .reduce = left}),
                    Contains("another reference, reference; now it is planted:honest"));
  CHECK(check_network(left, {.frameworks = {"reference"}})[0].status == Status::passed);
  std::filesystem::create_directories(folder / "mine");
  CHECK_THROWS_AS(
      check_network(model, {.frameworks = {"planted:wrong-fusion"}, .reduce = folder / "mine"}),
      IoError);
  write_file(left + "/reduction.json", "{}");
  CHECK_THROWS_AS(check(model, "planted:wrong-fusion", 0), FormatError);
}

TEST_CASE("a full disk leaves no half-written file, and what was there stays") {
  planted::use_framework();
  const testing::TemporaryFolder folder;
  const std::string model = folder / "long.onnx", left = folder / "few";
  long_chain().save(model);
  const NetworkCheckOptions options{.frameworks = {"planted:wrong-fusion"}, .reduce = left};
  const auto without_room = [&] {
    return isolated({.most_seconds = 60}, Measurement(), [&]() -> std::vector<Measurement> {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit tiny{16, 16};
      setrlimit(RLIMIT_FSIZE, &tiny);
      return check_network(model, options);
    })[0];
  };
  const Measurement failed = without_room();
  CHECK(failed.status == Status::failed);
  CHECK_THAT(failed.reason, Contains("cannot write folder") && Contains(left));
  CHECK(folder.names() == std::vector<std::string>{"long.onnx"});
  (void)cut_short(model, options);
  const std::string before = read_file(left + "/reduction.json");
  CHECK(without_room().status == Status::failed);
  CHECK(read_file(left + "/reduction.json") == before);
  CHECK(folder.names() == std::vector<std::string>{"few", "long.onnx"});
}

TEST_CASE("options that exclude each other are refused before anything runs") {
  const NetworkCheckOptions reduce{.reduce = "few"};
  const auto with = [&](auto change) {
    NetworkCheckOptions options = reduce;
    change(options);
    return options;
  };
  CHECK_THROWS_WITH(expect_checkable("lenet", with([](auto& o) { o.by_node = true; })),
                    Contains("by_node"));
  CHECK_THROWS_WITH(expect_checkable("lenet", with([](auto& o) { o.tolerance.emplace(); })),
                    Contains("tolerance"));
  CHECK_THROWS_WITH(expect_checkable("lenet", with([](auto& o) {
                                       o.backward = true;
                                       o.slower = 2;
                                     })),
                    Contains("slower applies to forward only"));
  CHECK_THROWS_WITH(expect_checkable("lenet", {.slower = 2}), Contains("name its folder"));
}

TEST_CASE("the folder of a wrong gradient fails with its model, of which gradients are compared") {
  planted::use_framework();
  const testing::TemporaryFolder folder;
  layers().save(folder / "layers.onnx");
  const std::string fault = "planted:wrong-gradient-of-exp", left = folder / "few";
  const auto record = check_network(folder / "layers.onnx",
                                    {.frameworks = {fault}, .backward = true, .reduce = left})[0];
  CHECK(record.samples == std::vector<double>{1});
  CHECK_THAT(record.command, Contains("--reduce " + left) && Contains("--backward"));
  const auto again = check_network(left + "/model.onnx", {.frameworks = {fault}, .backward = true});
  CHECK(std::ranges::any_of(again, [](const auto& m) { return m.status == Status::failed; }));
  CHECK_THAT(read_file(left + "/README.md"),
             Contains("--backward` shows it") && Contains("answered_gradient_N.pb"));
  CHECK(std::filesystem::exists(left + "/test_data_set_0/answered_gradient_0.pb"));
  CHECK(check_network(folder / "layers.onnx",
                      {.frameworks = {fault}, .backward = true, .reduce = left})[0]
            .samples == std::vector<double>{1});
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
  CHECK_THAT(
      node_comparison_tables(records, Format::table),
      Contains("the whole network differs, its 40 nodes do not") && Contains("--reduce FOLDER"));
}
