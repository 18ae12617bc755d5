// SPDX-License-Identifier: Apache-2.0
// Caches that whole models of a framework update in place.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/execution/model_executor.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;

namespace {

/// What a compiler did.
struct Calls {
  int compiled = 0;
  bool same_memory = false;  ///< a cache and its output had, in the last run
};

/// A framework's model: d5's own executor, which writes all of an output.
class ScatteringModel final : public CompiledModel {
 public:
  ScatteringModel(const onnx::Model& model, bool scatters, Calls& calls)
      : scatters_(scatters), calls_(calls), executor_(make_executor(Network(model))) {
    ++calls_.compiled;
    for (const auto& input : model.graph.inputs) inputs_.push_back(input.name);
    for (const auto& output : model.graph.outputs) outputs_.push_back(output.name);
  }
  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override {
    ValueMap fed;
    for (std::size_t i = 0; i < inputs.size(); ++i) fed[inputs_[i]] = *inputs[i];
    const ValueMap& results = executor_->inference(fed);
    calls_.same_memory = false;
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      for (const Value* input : inputs) {
        if (input->tensor().raw() == outputs[k]->tensor().raw()) calls_.same_memory = true;
      }
      outputs[k]->tensor().copy_from(results.at(outputs_[k]).tensor());
    }
  }
  [[nodiscard]] bool scatters_in_place() const override { return scatters_; }

 private:
  bool scatters_;
  Calls& calls_;
  std::unique_ptr<GraphExecutor> executor_;
  std::vector<std::string> inputs_, outputs_;
};

std::unique_ptr<GraphExecutor> scattering_executor(const Network& network, bool scatters,
                                                   Calls& calls) {
  return make_model_executor(network, {}, "scattering",
                             [scatters, &calls](const onnx::Model& model, const ModelTarget&) {
                               return std::make_unique<ScatteringModel>(model, scatters, calls);
                             });
}

Network tiny_decoder() {
  return models().at("decoder").make({{"layers", 1},
                                      {"width", 8},
                                      {"heads", 2},
                                      {"kv_heads", 1},
                                      {"hidden", 8},
                                      {"vocabulary", 20},
                                      {"capacity", 8}});
}

ValueMap tokens_from(std::int64_t start, const std::vector<std::int64_t>& tokens) {
  const auto count = std::int64_t(tokens.size());
  return {{"tokens", Tensor::of<std::int64_t>({1, count}, tokens)},
          {"starts", Tensor::vector<std::int64_t>({start})},
          {"places", Tensor::of<std::int64_t>({1, 1, 1}, {count - 1})}};
}

const std::vector<ValueMap> kSteps{tokens_from(0, {3, 4, 5}), tokens_from(3, {6}),
                                   tokens_from(4, {7}), tokens_from(2, {8, 9, 10}),
                                   tokens_from(5, {11})};

std::vector<float> elements_of(const Tensor& tensor) {
  return {tensor.span<float>().begin(), tensor.span<float>().end()};
}

}  // namespace

TEST_CASE("a framework's model that scatters in place is given the cache as its output") {
  const bool scatters = GENERATE(true, false);
  Calls calls;
  const auto executor = scattering_executor(tiny_decoder(), scatters, calls);
  const auto own = make_executor(tiny_decoder());
  for (const ValueMap& inputs : kSteps) {
    const Tensor expected = own->inference(inputs).at("logits").tensor();
    CHECK(elements_of(executor->inference(inputs).at("logits").tensor()) == elements_of(expected));
    CHECK(calls.same_memory == scatters);
    for (const PlannedUpdate& update : planned_updates(*executor)) {
      CHECK(elements_of(executor->network().fetch(update.constant)) ==
            elements_of(own->network().fetch(update.constant)));
      CHECK(update.copied_bytes == (scatters ? 0 : 8 * 4 * sizeof(float)));
      CHECK(update.reason == (scatters ? "" : "its framework copies updates"));
    }
  }
  CHECK(planned_updates(*executor).size() == 2);
  CHECK(calls.compiled == 2);  // for three tokens and for one: updates compile nothing again
}

TEST_CASE("other changes of values do compile again") {
  Calls calls;
  const auto executor = scattering_executor(tiny_decoder(), true, calls);
  (void)executor->inference(kSteps[0]);
  (void)executor->inference(kSteps[1]);
  Network& network = executor->network();
  network.parameter("norm.scale").value.span<float>()[0] = 2;
  (void)executor->inference(kSteps[1]);
  (void)executor->inference(kSteps[3]);
  CHECK(calls.compiled == 4);
}

TEST_CASE("a cache that another node reads, or that leaves the network, is copied") {
  Network network = tiny_decoder();
  const char* reason = "output of the network";
  SECTION("its new value leaves the network") {
    network.add_output("layer1.attention.key_cache.write.out");
  }
  SECTION("a node reads it") {
    network.add_node("Neg", {"layer1.attention.key_cache"}, {"minus"}, {}, "minus");
    network.add_output("minus");
    reason = "Neg 'minus' reads";
  }
  SECTION("a tensor has the same memory") {
    network.add_constant("twin", network.fetch("layer1.attention.key_cache"));
    network.add_node("Neg", {"twin"}, {"minus"});
    network.add_output("minus");
    reason = "'twin'";
  }
  Calls calls;
  const auto executor = scattering_executor(network, true, calls);
  (void)executor->inference(kSteps[0]);
  const auto updates = planned_updates(*executor);
  REQUIRE(updates.size() == 2);
  CHECK(updates[0].constant == "layer1.attention.key_cache");
  CHECK_THAT(updates[0].reason, Catch::Contains(reason));
  CHECK(updates[1].copied_bytes == 0);
}

TEST_CASE("an input that is a cache itself is read as it was before the run, by a model too") {
  Network network = tiny_decoder();
  network.add_input("x", DType::float32, {std::int64_t{1}, std::int64_t{8}, std::int64_t{4}});
  network.add_node("Neg", {"x"}, {"minus"});
  network.add_output("minus");
  Calls calls;
  const auto executor = scattering_executor(network, true, calls);
  ValueMap inputs = kSteps[0];
  inputs.emplace("x", network.fetch("layer1.attention.key_cache"));
  for (const float element : executor->inference(inputs).at("minus").tensor().span<float>()) {
    REQUIRE(element == 0);
  }
}
