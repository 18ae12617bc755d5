// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/execution/model_executor.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/transform.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level1_network/validation/network_validation.hpp"

namespace d5 {
namespace {

int compiled_models = 0;

/// Somebody else's compiler: d5's own executor behind the interface.
class PlannedModel final : public CompiledModel {
 public:
  PlannedModel(const onnx::Model& model, const ModelTarget& target)
      : target_(target), executor_(make_executor(Network(model), {.gradients = target.gradients})) {
    ++compiled_models;
    for (const auto& input : model.graph.inputs) inputs_.push_back(input.name);
    for (const auto& output : model.graph.outputs) outputs_.push_back(output.name);
  }

  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override {
    ValueMap fed;
    for (std::size_t i = 0; i < inputs.size(); ++i) fed[inputs_[i]] = *inputs[i];
    const ValueMap& results = target_.loss.empty()
                                  ? executor_->inference(fed)
                                  : executor_->inference_and_backprop(fed, target_.loss);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      const std::size_t own = outputs_.size();
      write(*outputs[k], k < own ? results.at(outputs_[k])
                                 : Value(executor_->gradient(target_.gradients[k - own])));
    }
  }

 private:
  static void write(Value& into, const Value& result) {
    if (into.is_tensor()) {
      into.tensor().copy_from(result.tensor());
    } else {
      into = Value(result.tensor().copy());
    }
  }

  ModelTarget target_;
  std::unique_ptr<GraphExecutor> executor_;
  std::vector<std::string> inputs_, outputs_;
};

std::unique_ptr<GraphExecutor> executor_of(Network network, const ExecutorOptions& options = {}) {
  return make_model_executor(std::move(network), options, "planned",
                             [](const onnx::Model& model, const ModelTarget& target) {
                               return std::make_unique<PlannedModel>(model, target);
                             });
}

Network lenet_model() { return models().at("lenet").make({{"seed", 1}, {"with_loss", true}}); }

ValueMap batch_of(std::int64_t size) {
  Tensor image = Tensor::empty(DType::float32, {size, 1, 28, 28});
  float next = 0;
  for (float& value : image.span<float>()) value = (next = next > 1 ? 0 : next + 0.01F);
  return {{"image", image}, {"label", Tensor::zeros(DType::int64, {size})}};
}

/// y = x * w, with a running sum of y in the constant "sum".
Network scaled() {
  Network network("scaled");
  network.add_input("x", DType::float32, {"N"});
  network.add_parameter("w", Tensor::scalar(2.0F));
  network.add_constant("sum", Tensor::scalar(0.0F));
  network.add_node("Mul", {"x", "w"}, {"y"});
  network.add_node("ReduceSum", {"y"}, {"y_sum"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Add", {"sum", "y_sum"}, {"new_sum"});
  network.add_output("y");
  network.add_update("sum", "new_sum");
  return network;
}

struct Heard final : ExecutionEvent {
  void before_run(Pass) override { words += "run "; }
  void before_pass(Pass) override { words += "pass "; }
  void before_node(const StepInfo& step) override {
    words += step.node.op_type + " " + step.node.name + " ";
  }
  void after_node(const StepInfo&) override { words += "node. "; }
  void gradient_ready(Parameter& parameter, std::size_t, Stream&) override {
    words += parameter.name + " ";
  }
  void after_pass(Pass) override { words += "pass. "; }
  void after_run(Pass) override { words += "run."; }
  std::string words;
};

struct EndsAtOnce final : ExecutionEvent {
  explicit EndsAtOnce(GraphExecutor& executor) : executor_(executor) {}
  void before_pass(Pass) override { executor_.end_run(); }
  GraphExecutor& executor_;
};

}  // namespace

TEST_CASE("a network compiled by somebody else gives what d5's own executor gives") {
  const auto own = make_executor(lenet_model());
  const auto other = executor_of(lenet_model());
  for (const std::int64_t size : {1, 3}) {
    for (const auto& record : test_executor_backprop(*other, *own, batch_of(size), "loss")) {
      INFO(record.reason);
      CHECK(record.status == Status::passed);
    }
  }
}

TEST_CASE("outputs behind operators that ONNX lacks are declared: a file could not tell them") {
  Network network = lenet_model();
  (void)apply_transforms(network, {{"fuse-activation"}});
  const auto executor =
      make_model_executor(network, {}, "planned", [](const onnx::Model& model, const auto& target) {
        for (const auto& output : model.graph.outputs) CHECK(output.type.has_shape);
        return std::make_unique<PlannedModel>(model, target);
      });
  CHECK(executor->inference(batch_of(3)).at("logits").tensor().shape() == Shape{3, 10});
}

TEST_CASE("an output that the file declares of a false shape is declared as it is") {
  Network network("rows");
  network.add_input("x", DType::float32, {"N"});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  onnx::Model model = network.model();
  model.graph.outputs[0].type.dims = {std::int64_t{1}, "N"};
  const auto executor = make_model_executor(
      Network(std::move(model)), {}, "planned", [](const onnx::Model& whole, const auto& target) {
        CHECK(whole.graph.outputs[0].type.dims == std::vector<onnx::Dim>{std::int64_t{3}});
        return std::make_unique<PlannedModel>(whole, target);
      });
  const auto& y = executor->inference({{"x", Tensor::vector<float>({1, -2, 3})}}).at("y");
  CHECK(y.tensor().span<float>()[2] == 3);
}

TEST_CASE("one without gradients is judged by its outputs") {
  const auto own = make_executor(lenet_model());
  const auto forward_alone = make_model_executor(
      lenet_model(), {}, "forward", [](const onnx::Model& model, const ModelTarget& target) {
        if (!target.loss.empty()) throw Unsupported("no gradients here");
        return std::make_unique<PlannedModel>(model, target);
      });
  const auto records = test_executor_backprop(*forward_alone, *own, batch_of(2), "loss");
  REQUIRE(records.size() == 3);
  CHECK(records[0].status == Status::passed);
  CHECK(records[1].status == Status::passed);
  CHECK(records[2].status == Status::unsupported);
  CHECK(records[2].reason == "no gradients here");
}

TEST_CASE("it is compiled once for each set of shapes, and again after changes") {
  compiled_models = 0;
  const auto executor = executor_of(lenet_model());
  for (const std::int64_t size : {1, 2, 1, 2}) (void)executor->inference(batch_of(size));
  CHECK(compiled_models == 2);
  set_threads(threads() + 1);
  (void)executor->inference(batch_of(1));
  set_threads(threads() - 1);
  CHECK(compiled_models == 3);
  const auto bias = executor->network().parameters().front();
  compiled_models = 0;
  for (int i = 0; i < 2; ++i) (void)executor->inference(batch_of(1));
  CHECK(compiled_models == 1);
  executor->network().feed(bias.name, bias.value.copy());
  for (int i = 0; i < 2; ++i) (void)executor->inference(batch_of(1));
  CHECK(compiled_models == 2);
  executor->network().add_node("Relu", {"logits"}, {"positive"});
  executor->network().add_output("positive");
  CHECK(executor->inference(batch_of(1)).contains("positive"));
  CHECK(compiled_models == 3);
}

TEST_CASE("updates are carried out, and the next run reads them") {
  const auto executor = executor_of(scaled());
  const ValueMap inputs{{"x", Tensor::vector<float>({1, 2})}};
  compiled_models = 0;
  (void)executor->inference(inputs);
  CHECK(executor->network().fetch("sum").item<float>() == 6);
  const ValueMap& outputs = executor->inference(inputs);
  CHECK(executor->network().fetch("sum").item<float>() == 12);
  CHECK(compiled_models == 1);
  CHECK(outputs.size() == 1);
  CHECK(outputs.at("y").tensor().span<float>()[1] == 4);
}

TEST_CASE("gradients of named tensors are there after backpropagation alone") {
  Network network = scaled();
  network.add_node("ReduceSum", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  const auto executor = executor_of(network, {.gradients = {"x"}});
  const ValueMap inputs{{"x", Tensor::vector<float>({1, 2})}};
  CHECK_THROWS_AS((void)executor->gradient("x"), NotFound);
  (void)executor->inference_and_backprop(inputs, "loss");
  CHECK(executor->gradient("x").span<float>()[0] == 2);
  CHECK(network.parameter("w").gradient.item<float>() == 3);
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "y"), ShapeError);
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "lose"), NotFound);
}

TEST_CASE("observers see the whole network as one step") {
  Network network = scaled();
  const auto executor = executor_of(network);
  const auto heard = std::make_shared<Heard>();
  executor->events().add(heard);
  const ValueMap inputs{{"x", Tensor::vector<float>({1, 2})}};
  (void)executor->inference(inputs);
  CHECK(heard->words == "run pass planned scaled node. pass. run.");
  heard->words.clear();
  network.add_node("ReduceSum", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  (void)executor->inference_and_backprop(inputs, "loss");
  CHECK(heard->words == "run pass planned scaled node. w pass. run.");
}

TEST_CASE("a run may be ended before its only step") {
  const auto executor = executor_of(scaled());
  const auto ends = std::make_shared<EndsAtOnce>(*executor);
  const ValueMap inputs{{"x", Tensor::vector<float>({1, 2})}};
  executor->events().add(ends);
  CHECK(executor->inference(inputs).empty());
  CHECK(executor->ended_early());
  CHECK(executor->network().fetch("sum").item<float>() == 0);
  executor->events().remove(ends.get());
  CHECK(executor->inference(inputs).size() == 1);
  CHECK_FALSE(executor->ended_early());
}

TEST_CASE("wrong inputs are refused before anything is compiled") {
  compiled_models = 0;
  const auto executor = executor_of(scaled());
  CHECK_THROWS_AS(executor->inference({}), NotFound);
  CHECK_THROWS_AS(executor->inference({{"x", Tensor::scalar(1.0F)}}), ShapeError);
  CHECK_THROWS_AS(executor->inference({{"x", Tensor::vector<double>({1})}}), TypeError);
  CHECK(compiled_models == 0);
  CHECK_THROWS_AS(executor_of(scaled(), {.device = {DeviceKind::cuda, 0}}), Unsupported);
}

}  // namespace d5
