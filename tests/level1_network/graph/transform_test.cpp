// SPDX-License-Identifier: Apache-2.0
// Every transform that there is, on networks that between them hold what each looks for.
#include "d5/level1_network/graph/transform.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "tests/level0_ops/run_case.hpp"
#include "tests/level1_network/transform_networks.hpp"

using namespace d5;
using namespace d5::transformed;
using Catch::Contains;

namespace {

/// Settings for transforms whose defaults leave a network unchanged.
Settings settings_of(const std::string& transform) {
  if (transform == "microbatch") return {{"batch", 3}, {"memory", "16KiB"}};
  return {};
}

bool is_zero(const Tensor& tensor) {
  return std::ranges::all_of(tensor.span<float>(), [](float value) { return value == 0; });
}

/// Within 4 roundings to float16, of 2^-11 each, relative to the largest number: every result and
/// every weight is rounded once, and as roundings are of both signs their sum stays near one.
void check_rounded(const std::string& output, const Tensor& rounded, const Tensor& expected) {
  const Tensor got = detail::converted(rounded, DType::float32);
  float largest = 0;
  for (const float value : expected.span<float>()) largest = std::max(largest, std::abs(value));
  const auto close = [&](float a, float b) { return std::abs(a - b) <= 4 * 0x1p-11F * largest; };
  INFO(output);
  CHECK(std::ranges::equal(got.span<float>(), expected.span<float>(), close));
}

/// Whether a rounding can make a gradient go another way, which moves it as a whole.
bool chooses(const Network& network) {
  return std::ranges::any_of(network.graph().nodes,
                             [](const auto& node) { return node.op_type == "MaxPool"; });
}

/// Every output, and what else the chain says that it keeps.
void check_kept(Network before, Network after, Keeps keeps) {
  CHECK(after.input_names() == before.input_names());
  CHECK(after.output_names() == before.output_names());
  const ValueMap inputs = random_inputs(before, {.batch = 3}, 5);
  const auto first = make_executor(before), second = make_executor(after);
  const ValueMap expected = first->inference(inputs), got = second->inference(inputs);
  for (const auto& [name, value] : expected) {
    CHECK(to_string(got.at(name).desc()) == to_string(value.desc()));
    if (keeps == Keeps::rounded) check_rounded(name, got.at(name).tensor(), value.tensor());
  }
  if (keeps == Keeps::rounded) {
    if (chooses(before)) return;
    first->inference_and_backprop(inputs, "loss");
    second->inference_and_backprop(inputs, "loss");
    for (const auto& parameter : after.parameters()) {
      check_rounded("gradient of " + parameter.name, parameter.gradient,
                    before.parameter(parameter.name).gradient);
    }
    return;
  }
  const auto records = keeps == Keeps::gradients
                           ? test_executor_backprop(*second, *first, inputs, "loss")
                           : test_executor(*second, *first, inputs);
  REQUIRE(records.size() >= before.output_names().size());
  for (const auto& record : records) {
    const std::string tensor = record.conditions.at("tensor").text(), gradient = "gradient of ";
    INFO(tensor << ": " << record.reason);
    const std::string name = tensor.starts_with(gradient) ? tensor.substr(gradient.size()) : "";
    if (name.empty() || after.is_parameter(name)) {
      CHECK(agrees(record));
    } else {
      CHECK(is_zero(before.parameter(name).gradient));
    }
  }
}

}  // namespace

TEST_CASE("every transform keeps what it says, on every network") {
  for (const auto& name : transforms().names()) {
    if (name == "kv-state") continue;  // takes exported decoders, and changes their inputs
    std::size_t changed = 0;
    for (const auto& make : networks()) {
      Network after = make();
      INFO(name << " on " << after.name());
      const auto report = applied(after, {name, settings_of(name)});
      changed += report.what.empty() ? 0 : 1;
      check_kept(make(), written(after), kept_by({{name}}));
      CHECK(applied(after, {name, settings_of(name)}).what.empty());  // once was enough
    }
    INFO(name);
    CHECK(changed > 0);  // the networks hold something for it
  }
}

TEST_CASE("transforms after each other keep what all of them keep") {
  const TransformChain chain = {{"remove-dropout"},
                                {"fold-batch-norm"},
                                {"constant-folding"},
                                {"common-subexpressions"},
                                {"dead-code"}};
  for (const auto& make : networks()) {
    Network after = make();
    INFO(after.name());
    const auto steps = apply_transforms(after, chain);
    REQUIRE(steps.size() == chain.size());
    CHECK(steps.front().nodes_before == make().graph().nodes.size());
    CHECK(steps.back().nodes_after == after.graph().nodes.size());
    check_kept(make(), written(after), kept_by(chain));
  }
  CHECK(kept_by(chain) == Keeps::outputs);
  CHECK(kept_by({}) == Keeps::gradients);
}

TEST_CASE("a transform by a wrong name, or with a wrong setting, changes nothing") {
  Network network = redundant();
  const auto revision = network.revision();
  CHECK_THROWS_WITH(apply_transforms(network, {{"dead-code"}, {"dead-cod"}}),
                    Contains("did you mean dead-code?"));
  CHECK_THROWS_AS(apply_transforms(network, {{"dead-code", {{"deep", true}}}}), NotFound);
  CHECK_THROWS_AS(apply_transforms(network, {{"half-precision", {{"type", "float8"}}}}),
                  ValueError);
  CHECK(network.revision() == revision);
}

TEST_CASE("a network that differentiates itself is refused") {
  Network network("slope");
  network.add_input("x", DType::float32, {std::int64_t{1}});
  network.add_node("Exp", {"x"}, {"y"});
  onnx::Node& gradient =
      network.add_node("Gradient", {"x"}, {"dy"},
                       {{"xs", std::vector<std::string>{"x"}}, {"y", std::string("y")}}, "slope");
  gradient.domain = "ai.onnx.preview.training";
  gradient.opset = 1;
  network.add_output("dy");
  CHECK_THROWS_WITH(apply_transforms(network, {{"dead-code"}}), Contains("Gradient 'slope'"));
}

TEST_CASE("what is said of a chain names each transform and what it left") {
  Network network = normalized();
  network.add_output("c1");
  const auto steps = apply_transforms(network, {{"fold-batch-norm"}, {"dead-code"}});
  const std::string text = to_table(steps).to_text(Format::csv);
  CHECK_THAT(text, Contains("fold-batch-norm") && Contains("folded 1 BatchNormalization"));
  CHECK_THAT(text, Contains("left: BatchNormalization 'norm1': 'c1' is an output too"));
  CHECK_THAT(text, Contains("nothing to change"));
}

TEST_CASE("words of a chain are read back as they are written, and misspelt ones refused") {
  const std::string words = "half-precision:type=bfloat16";
  const TransformChain chain = transform_chain({"dead-code", words});
  CHECK(to_words(chain) == "dead-code," + words);
  CHECK(transform_chain({}).empty());
  CHECK_THROWS_WITH(transform_chain({"dead-cod"}), Contains("did you mean dead-code?"));
  CHECK_THROWS_WITH(transform_chain({"half-precision:type=float8"}), Contains("float8"));
  CHECK_THROWS_AS(transform_chain({"dead-code:deep=true"}), Error);
}
