// SPDX-License-Identifier: Apache-2.0
// A network that agrees with answers that say nothing has not passed.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "d5/level1_network/validation/network_check.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "level1_network/auto/executor_race.hpp"
#include "tests/cache_folder.hpp"
#include "tests/level1_network/planted_faults.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/test_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// x of 10 numbers.
Network of_ten() {
  Network network("ten");
  network.add_input("x", DType::float32, {std::int64_t{10}});
  return network;
}

/// y = (x - x) / (x - x)
Network quotient() {
  Network network = of_ten();
  network.add_node("Sub", {"x", "x"}, {"zero"});
  network.add_node("Div", {"zero", "zero"}, {"y"});
  network.add_output("y");
  return network;
}

Network infinite() {
  Network network = of_ten();
  network.add_node("Sub", {"x", "x"}, {"zero"});
  network.add_node("Exp", {"zero"}, {"one"});
  network.add_node("Div", {"one", "zero"}, {"y"});
  network.add_output("y");
  return network;
}

Network constant() {
  Network network = of_ten();
  network.add_constant("three", Tensor::of<float>({1}, {3}));
  network.add_node("Sub", {"x", "x"}, {"zero"});
  network.add_node("Add", {"zero", "three"}, {"y"});
  network.add_output("y");
  return network;
}

/// Numbers that differ, and that x does not move.
Network of_weights(const std::string& mixed_by) {
  Network network = of_ten();
  std::vector<float> weights(10);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = float(i) / 7;
  network.add_constant("w", Tensor::vector(weights));
  if (mixed_by.empty()) {
    network.add_node("Exp", {"w"}, {"y"});
    network.add_node("Exp", {"x"}, {"z"});
    network.add_output("y");
    network.add_output("z");
    return network;
  }
  network.add_node("Sub", {"x", "x"}, {"zero"});
  network.add_node(mixed_by, {"zero", "w"}, {"y"});
  network.add_output("y");
  return network;
}

Network empty() {
  Network network = of_ten();
  network.add_constant("from", Tensor::of<std::int64_t>({1}, {10}));
  network.add_constant("to", Tensor::of<std::int64_t>({1}, {20}));
  network.add_node("Slice", {"x", "from", "to"}, {"y"});
  network.add_output("y");
  return network;
}

/// The largest of what is NaN everywhere.
Network largest_of_nan() {
  Network network("ten");
  network.add_input("x", DType::float32, {std::int64_t{10}});
  network.add_node("Sub", {"x", "x"}, {"zero"});
  network.add_node("Div", {"zero", "zero"}, {"nan"});
  network.add_node("ArgMax", {"nan"}, {"y"});
  network.add_output("y");
  return network;
}

Measurement of(const std::vector<Measurement>& records, const std::string& tensor) {
  for (const auto& record : records) {
    if (condition_of(record, "tensor") == tensor) return record;
  }
  FAIL("there is no " << tensor);
  return {};
}

/// The planted framework computes as the reference does.
std::vector<Measurement> check(const std::string& model, NetworkCheckOptions options = {}) {
  planted::use_framework();
  options.frameworks = {"planted:honest"};
  return check_network(model, options);
}

std::string saved(const testing::TemporaryFolder& folder, const Network& network) {
  network.save(folder / "model.onnx");
  return folder / "model.onnx";
}

/// Masks padding like an exported encoder: scores + (1 - mask) x least, where least is -infinity
/// here. `normalizes` subtracts the tokens' mean, as a normalization does.
Network encoder(std::vector<onnx::Dim> dims, bool normalizes = false) {
  constexpr std::int64_t kWidth = 4;
  Network network("encoder");
  network.add_input("input_ids", DType::int64, dims);
  network.add_input("padding_mask", DType::int64, dims);
  std::vector<float> table(16 * kWidth);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = float(i * 7 % 13) / 6 - 1;
  network.add_parameter("table", Tensor::of<float>({16, kWidth}, table));
  network.add_constant("one", Tensor::scalar(1.0F));
  network.add_constant("least", Tensor::scalar(-std::numeric_limits<float>::infinity()));
  network.add_constant("zero", Tensor::scalar(0.0F));
  network.add_constant("axes", Tensor::of<std::int64_t>({1}, {1}));
  network.add_node("Gather", {"table", "input_ids"}, {"h"});
  network.add_node("Transpose", {"h"}, {"keys"}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  network.add_node("MatMul", {"h", "keys"}, {"scores"});
  network.add_node("Unsqueeze", {"padding_mask", "axes"}, {"wide"});
  network.add_node("Cast", {"wide"}, {"kept"}, {{"to", std::int64_t{1}}});
  network.add_node("Equal", {"kept", "zero"}, {"is_padding"});
  network.add_node("Where", {"is_padding", "least", "zero"}, {"bias"});
  network.add_node("Add", {"scores", "bias"}, {"masked"});
  network.add_node("Softmax", {"masked"}, {"weights"}, {{"axis", std::int64_t{-1}}});
  network.add_node("MatMul", {"weights", "h"}, {normalizes ? "mixed" : "y"});
  if (normalizes) {
    network.add_node("ReduceMean", {"mixed", "axes"}, {"mean"});
    network.add_node("Sub", {"mixed", "mean"}, {"centred"});
    network.add_node("Mul", {"centred", "centred"}, {"squares"});
    network.add_node("ReduceMean", {"squares", "axes"}, {"variance"});
    network.add_node("Sqrt", {"variance"}, {"deviation"});
    network.add_node("Div", {"centred", "deviation"}, {"y"});
  }
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("a network is mistrusted and not passed if the reference's answers say nothing") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const auto [network, reason] = GENERATE(table<Network, std::string>(
      {{quotient(), "output y: the reference's answers are NaN in 10 of 10 elements: give inputs"},
       {infinite(), "infinite in 10 of 10 elements: give inputs"},
       {constant(), "3 in 10 of 10 elements, for other inputs, too: give inputs"},
       {of_weights(""), "follow from no input's values"},
       {of_weights("Add"), "the same for other inputs in 10 of 10 elements: give inputs"},
       {empty(), "the reference's answers are empty: give inputs"},
       {largest_of_nan(), "the same for other inputs in 1 of 1 elements: give inputs"}}));
  const std::string model = saved(folder, network);
  for (const bool has_tolerance : {false, true}) {
    NetworkCheckOptions options;
    if (has_tolerance) options.tolerance = ForwardTolerance{1e-3, 1e-6};
    const Measurement record = of(check(model, options), "output y");
    CHECK(record.status == Status::mistrusted);
    CHECK_THAT(record.reason, Contains(reason));
  }
  for (const auto& record : bench_network(
           model,
           {.frameworks = {"planted:honest"}, .metrics = {"time"}, .measuring = {.samples = 3}})) {
    if (reason.starts_with("follow")) continue;  // another output says something
    CHECK(record.conditions.at("answers") == "not compared");
    CHECK(record.status == Status::mistrusted);
  }
}

TEST_CASE("answers that are constant by right, zeros of a ReLU, and one number pass") {
  const testing::TemporaryFolder folder;
  Network network = of_ten();
  network.add_constant("far", Tensor::of<float>({1}, {1}));
  network.add_constant("ten", Tensor::scalar<std::int64_t>(10));
  network.add_constant("values", Tensor::of<float>({2}, {0, 1}));
  network.add_node("Sub", {"x", "far"}, {"less"});
  network.add_node("Relu", {"less"}, {"y"});
  network.add_node("Shape", {"x"}, {"shape"});
  network.add_node("Greater", {"x", "far"}, {"greater"});
  network.add_node("ArgMax", {"x"}, {"place"});
  network.add_node("OneHot", {"place", "ten", "values"}, {"hot"});
  network.add_node("ReduceSum", {"x"}, {"sum"});
  network.add_node("Expand", {"sum", "shape"}, {"sums"});
  network.add_node("Sign", {"x"}, {"sign"});
  for (const char* name : {"y", "shape", "greater", "place", "hot", "sum", "sums", "sign"}) {
    network.add_output(name);
  }
  for (const auto& record : check(saved(folder, network))) {
    INFO(record.conditions.at("tensor").text() << ": " << record.reason);
    CHECK(record.status == Status::passed);
    CHECK_FALSE(record.conditions.contains("drawn"));
  }
}

TEST_CASE("values that are given and say nothing are mistrusted, and no others are drawn") {
  const testing::TemporaryFolder folder;
  Network network("logarithm");
  network.add_input("x", DType::float32, {"N"});
  network.add_node("Log", {"x"}, {"y"});
  network.add_output("y");
  const std::string model = saved(folder, network);
  const ValueMap below{{"x", Tensor::of<float>({2}, {-1, -2})}};
  const auto given = of(check(model, {.inputs = {.values = below}}), "output y");
  CHECK(given.status == Status::mistrusted);
  CHECK_THAT(given.reason, Contains("NaN in 2 of 2 elements: give inputs"));
  const ValueMap above{{"x", Tensor::of<float>({2}, {1, 2})}};
  CHECK(of(check(model, {.inputs = {.values = above}}), "output y").status == Status::passed);
}

TEST_CASE("inputs that d5 makes are drawn otherwise until answers say something") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  Network logarithm("logarithm");
  logarithm.add_input("x", DType::float32, {std::int64_t{20}});
  logarithm.add_constant("four", Tensor::of<float>({1}, {4}));
  logarithm.add_node("Sub", {"x", "four"}, {"less"});
  logarithm.add_node("Log", {"less"}, {"y"});
  logarithm.add_output("y");
  const onnx::Dim one = std::int64_t{1};
  const auto [network, drawn] = GENERATE_COPY(table<Network, std::string>(
      {{encoder({one, one}), "masks of ones"},
       {encoder({"batch", "sequence"}), "masks of ones"},
       {encoder({"batch", "sequence"}, true), "masks of ones, sequence of 8"},
       {logarithm, "reals from 0 to 256"}}));
  const std::string model = saved(folder, network);
  // Some of the seeds draw a mask of 0; all must end with a comparison.
  int otherwise = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    for (const auto& record : check(model, {.execution = {.seed = seed}})) {
      INFO("seed " << seed << ": " << record.conditions.at("tensor").text() << " "
                   << record.reason);
      CHECK(record.status == Status::passed);
      if (!record.conditions.contains("drawn")) continue;
      CHECK(record.conditions.at("drawn") == drawn);
      ++otherwise;
    }
  }
  CHECK(otherwise > 0);
  const auto times = bench_network(model, {.frameworks = {"planted:honest", "reference"},
                                           .metrics = {"time"},
                                           .measuring = {.samples = 3}});
  for (const auto& record : times) CHECK(record.conditions.at("answers") == "right");
  CHECK(condition_of(times.at(0), "drawn") == condition_of(times.at(1), "drawn"));
}

TEST_CASE("a test folder that expects NaN alone says nothing, one that expects infinities does") {
  const testing::TemporaryFolder folder;
  constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kUnbounded = std::numeric_limits<float>::infinity();
  Network network("logarithm");
  network.add_input("x", DType::float32, {std::int64_t{2}});
  network.add_node("Log", {"x"}, {"y"});
  network.add_output("y");
  const auto status = [&](const std::string& name, std::vector<float> x, std::vector<float> y) {
    testing::write_test_folder(folder / name, network, {{"x", Tensor::vector(x)}},
                               {{"y", Tensor::vector(y)}});
    return check(folder / name).front().status;
  };
  CHECK(status("nan", {-1, -2}, {kQuietNan, kQuietNan}) == Status::mistrusted);
  CHECK(status("infinite", {0, 0}, {-kUnbounded, -kUnbounded}) == Status::passed);
  CHECK(status("half", {-1, 1}, {kQuietNan, 0}) == Status::passed);
  CHECK(status("mostly", {-1, 0}, {kQuietNan, -kUnbounded}) == Status::passed);
  CHECK(status("wrong", {1, 1}, {kQuietNan, kQuietNan}) == Status::failed);
}

TEST_CASE("nodes whose values are NaN are mistrusted, and none is said to differ") {
  const testing::TemporaryFolder folder;
  const auto records = check(saved(folder, quotient()), {.by_node = true});
  for (const auto& record : records) {
    const bool is_quotient = record.conditions.at("operator") == "Div";
    CHECK(record.status == (is_quotient ? Status::mistrusted : Status::passed));
  }
  CHECK(first_to_differ(records) == nullptr);
}

TEST_CASE("gradients that are NaN or zeros alone are mistrusted") {
  Network network("loss");
  network.add_input("x", DType::float32, {std::int64_t{3}});
  network.add_parameter("w", Tensor::of<float>({3}, {-1, -2, -3}));
  network.add_parameter("v", Tensor::of<float>({3}, {1, 2, 3}));
  network.add_node("Sqrt", {"w"}, {"root"});
  network.add_node("Relu", {"w"}, {"none"});
  network.add_node("Add", {"root", "none"}, {"nan"});
  network.add_node("Mul", {"x", "v"}, {"scaled"});
  network.add_node("ReduceSum", {"scaled"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  network.add_output("nan");
  const auto subject = make_executor(network.copy()), reference = make_executor(network.copy());
  const ValueMap inputs{{"x", Tensor::of<float>({3}, {1, 2, 4})}};
  const auto records = test_executor_backprop(*subject, *reference, inputs, "loss");
  CHECK(of(records, "output loss").status == Status::passed);
  CHECK(of(records, "gradient of v").status == Status::passed);
  CHECK(of(records, "gradient of w").status == Status::mistrusted);
  CHECK(of(records, "output nan").status == Status::mistrusted);
}

TEST_CASE("auto does not choose whom it could not compare, unless another draw tells") {
  const testing::OwnCacheFolder cache;
  Network network = of_ten();
  network.add_node("Log", {"x"}, {"y"});
  network.add_output("y");
  const ValueMap below{{"x", Tensor::of<float>({10}, std::vector<float>(10, -1))}};
  const auto plan = make_executor(network);
  planted::Executor other(network, planted::faults().at("honest")());
  for (const bool tells : {false, true}) {
    ExecutorRace race(network, below, "", {});
    race.add("plan", *plan);
    race.add("other", other);
    race.judge_also_on(
        [&](std::uint64_t, std::size_t drawing) {
          std::vector<float> above(10);
          for (std::size_t i = 0; i < above.size(); ++i) above[i] = float(i + 1);
          return tells && drawing > 0 ? ValueMap{{"x", Tensor::vector(above)}} : below;
        },
        0, 1e9);
    race.run(0);
    CHECK(race.draws() == (tells ? 3 : 0));
    if (tells) {  // a clock may still refuse the slower
      for (const auto& refusal : race.refusals()) CHECK_THAT(refusal.reason, !Contains("compared"));
      continue;
    }
    CHECK(race.winner() == "plan");
    REQUIRE(race.refusals().size() == 1);
    CHECK(race.refusals().front().framework == "other");
    CHECK_THAT(race.refusals().front().reason,
               Contains("nothing was compared: output y: the reference's answers are NaN in 10"));
  }
}

TEST_CASE("the reference that judges itself passes nothing, also beside what says nothing") {
  const testing::TemporaryFolder folder;
  for (const auto& record : check_network(saved(folder, of_weights("")))) {
    CHECK(record.status != Status::passed);
  }
}
