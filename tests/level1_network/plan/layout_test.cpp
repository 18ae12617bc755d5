// SPDX-License-Identifier: Apache-2.0
// A framework that keeps its results back to front, where a missing reorder cannot hide.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/onnx/nodes.hpp"

using namespace d5;

namespace {

class BackToFront final : public Arrangement {
 public:
  BackToFront(std::string framework, std::size_t bytes)
      : Arrangement(std::move(framework)), bytes_(bytes) {}
  std::string name() const override { return "back to front"; }
  std::size_t bytes() const override { return bytes_; }
  bool equals(const Arrangement& other) const override { return other.bytes() == bytes_; }

 private:
  std::size_t bytes_;
};

float* elements(Tensor& tensor) { return static_cast<float*>(tensor.raw()); }
const float* elements(const Tensor& tensor) { return static_cast<const float*>(tensor.raw()); }

class ReverseKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    const Tensor& from = context.input(0);
    std::reverse_copy(elements(from), elements(from) + from.elements(),
                      elements(context.output(0)));
  }
};

/// y = f(x), written back to front; x in whatever order it is.
class MapKernel final : public Kernel {
 public:
  MapKernel(float (*f)(float), bool reverses) : f_(f), reverses_(reverses) {}
  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    float* y = elements(context.output(0));
    for (std::int64_t i = 0, n = x.elements(); i < n; ++i) {
      y[reverses_ ? n - 1 - i : i] = f_(elements(x)[i]);
    }
  }

 private:
  float (*f_)(float);
  bool reverses_;
};

template <class View>
void add_map(OperatorRegistry& registry, float (*f)(float)) {
  registry.add_kernel<View>([f, name = registry.framework()](PlanContext& context) {
    const bool is_dense = context.input(0).layout == Layout::row_major;
    if (!context.keeps_layouts()) return std::make_unique<MapKernel>(f, false);
    context.accept_layout(0);
    context.arrange_output(0, std::make_shared<BackToFront>(name, context.output(0).bytes()));
    return std::make_unique<MapKernel>(f, is_dense);
  });
}

void fill(Framework& framework) {
  auto& registry = framework.part<OperatorRegistry>();
  add_map<onnx::nodes::Relu>(registry, [](float x) { return std::max(x, 0.0f); });
  add_map<onnx::nodes::Neg>(registry, [](float x) { return -x; });
}

void use_frameworks() {
  static const bool once = [] {
    add_framework("reversing", "1", [](Framework& framework) {
      fill(framework);
      framework.part<OperatorRegistry>().set_reorder(
          [](const TensorDesc&, const TensorDesc&) { return std::make_unique<ReverseKernel>(); });
    });
    add_framework("careless", "1", fill);
    return true;
  }();
  (void)once;
}

Network network() {
  Network network("layouts");
  network.add_input("x", DType::float32, {4});
  network.add_node("Relu", {"x"}, {"a"});
  network.add_node("Neg", {"a"}, {"b"});
  network.add_node("Softplus", {"b"}, {"c"});
  network.add_node("Add", {"b", "c"}, {"d"});
  network.add_output("b");
  network.add_output("d");
  return network;
}

const ValueMap& fed() {
  static const ValueMap values{{"x", Tensor::of<float>({4}, {1, -2, 3, 4})}};
  return values;
}

class Steps final : public ExecutionEvent {
 public:
  std::vector<std::string> names, layouts;
  void before_node(const StepInfo& step) override {
    names.push_back(step.node.op_type);
    layouts.push_back(step.layout);
  }
};

}  // namespace

TEST_CASE("an arrangement stays between kernels that know it, and is reordered for others, once") {
  use_frameworks();
  const auto steps = std::make_shared<Steps>();
  const auto executor = make_executor(network(), {.frameworks = {"reversing", "reference"}});
  executor->events().add(steps);
  const ValueMap expected = make_executor(network())->inference(fed());
  const ValueMap& got = executor->inference(fed());
  for (const char* name : {"b", "d"}) {
    const auto ours = got.at(name).tensor().span<float>();
    const auto theirs = expected.at(name).tensor().span<float>();
    CHECK(std::equal(ours.begin(), ours.end(), theirs.begin()));
  }
  CHECK(steps->names == std::vector<std::string>{"Relu", "Neg", "Reorder", "Softplus", "Add"});
  CHECK(steps->layouts == std::vector<std::string>{"back to front", "back to front", "", "", ""});
}

TEST_CASE("a framework that arranges values but cannot reorder them is an error") {
  use_frameworks();
  CHECK_THROWS_WITH(
      make_executor(network(), {.frameworks = {"careless", "reference"}})->inference(fed()),
      Catch::Contains("careless") && Catch::Contains("set_reorder"));
}

TEST_CASE("elements in an order that only a framework knows cannot be read") {
  TensorDesc desc{DType::float32, {4}, Layout::opaque};
  desc.arrangement = std::make_shared<BackToFront>("reversing", 16);
  const Tensor tensor = Tensor::empty(desc);
  CHECK(to_string(desc) == "float32 4 in back to front");
  CHECK_THROWS_AS(tensor.data<float>(), Unsupported);
  CHECK_THROWS_AS(Tensor::of<float>({4}, {1, 2, 3, 4}).copy_from(tensor), Unsupported);
}

TEST_CASE("the gradient of a value in an arrangement is in rows") {
  use_frameworks();
  Network whole = network();
  whole.add_node("ReduceSum", {"d"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  whole.add_output("loss");
  const auto executor =
      make_executor(whole, {.frameworks = {"reversing", "reference"}, .gradients = {"b"}});
  const auto reference = make_executor(whole.copy(), {.gradients = {"b"}});
  (void)executor->inference_and_backprop(fed(), "loss");
  (void)reference->inference_and_backprop(fed(), "loss");
  const auto got = executor->gradient("b").span<float>();
  const auto expected = reference->gradient("b").span<float>();
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(got[i] == expected[i]);
}

namespace {

/// y = max(x, w): w back to front, x and y in rows.
class MaxKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    const Tensor &x = context.input(0), &w = context.input(1);
    float* y = elements(context.output(0));
    for (std::int64_t i = 0, n = x.elements(); i < n; ++i) {
      y[i] = std::max(elements(x)[i], elements(w)[n - 1 - i]);
    }
  }
};

void use_wanting_framework() {
  static const bool once = [] {
    add_framework("wanting", "1", [](Framework& framework) {
      auto& registry = framework.part<OperatorRegistry>();
      registry.add_kernel<onnx::nodes::Max>([](PlanContext& context) {
        if (!context.keeps_layouts()) throw Unsupported("rows");
        context.want_layout(1, std::make_shared<BackToFront>("wanting", context.input(1).bytes()));
        return std::make_unique<MaxKernel>();
      });
      registry.set_reorder(
          [](const TensorDesc&, const TensorDesc&) { return std::make_unique<ReverseKernel>(); });
    });
    return true;
  }();
  (void)once;
}

Network network_with_weights(bool trained) {
  Network network("weights");
  network.add_input("x", DType::float32, {2});
  const Tensor weights = Tensor::of<float>({2}, {1, 2});
  if (trained) {
    network.add_parameter("w", weights);
  } else {
    network.add_constant("w", weights);
  }
  network.add_node("Max", {"x", "w"}, {"y"});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("what a kernel wants of a parameter is made once, and again after its values changed") {
  use_wanting_framework();
  const bool trained = GENERATE(true, false);
  Network network = network_with_weights(trained);
  const auto steps = std::make_shared<Steps>();
  const auto executor = make_executor(network, {.frameworks = {"wanting"}});
  executor->events().add(steps);
  const auto run = [&] {
    steps->names.clear();
    const auto y = executor->inference({{"x", Tensor::of<float>({2}, {0, 5})}});
    return std::vector(y.at("y").tensor().span<float>().begin(),
                       y.at("y").tensor().span<float>().end());
  };
  CHECK(run() == std::vector<float>{1, 5});
  CHECK(steps->names == std::vector<std::string>{"Reorder", "Max"});
  CHECK(run() == std::vector<float>{1, 5});
  CHECK(steps->names == std::vector<std::string>{"Max"});
  network.feed("w", Tensor::of<float>({2}, {7, 8}));
  CHECK(run() == std::vector<float>{7, 8});
  CHECK(steps->names == std::vector<std::string>{"Reorder", "Max"});
  if (!trained) return;
  Tensor memory = network.parameter("w").value;
  memory.data<float>()[0] = 9;
  CHECK(run() == std::vector<float>{9, 8});
  memory.data<float>()[0] = 10;
  network.values_changed();
  CHECK(run() == std::vector<float>{10, 8});
}

TEST_CASE("a run that updates another constant leaves what a kernel wants as it is") {
  use_wanting_framework();
  const bool is_read = GENERATE(false, true);
  Network network = network_with_weights(true);
  network.add_constant("count", Tensor::of<float>({2}, {0, 0}));
  network.add_node("Add", {"count", "y"}, {"sum"});
  network.add_update("count", "sum");
  if (is_read) {  // which is then made of it, in every run
    network.add_node("Max", {"x", "count"}, {"z"});
    network.add_output("z");
  }
  const auto steps = std::make_shared<Steps>();
  const auto executor = make_executor(network, {.frameworks = {"wanting", "reference"}});
  executor->events().add(steps);
  for (const float run : {0.0F, 1.0F, 2.0F}) {
    steps->names.clear();
    const auto& outputs = executor->inference({{"x", Tensor::of<float>({2}, {0, 5})}});
    CHECK(outputs.at("y").tensor().data<float>()[0] == 1);
    if (is_read) CHECK(outputs.at("z").tensor().data<float>()[0] == run);
    const auto made = std::ranges::count(steps->names, "Reorder");
    CHECK(made == (is_read ? 2 : run == 0 ? 1 : 0));
  }
  network.feed("w", Tensor::of<float>({2}, {7, 8}));
  const auto& outputs = executor->inference({{"x", Tensor::of<float>({2}, {0, 5})}});
  CHECK(outputs.at("y").tensor().data<float>()[0] == 7);
}

TEST_CASE("what a kernel wants of a value between nodes is made in every run") {
  use_wanting_framework();
  Network network = network_with_weights(true);
  network.add_node("Max", {"w", "y"}, {"z"});
  network.add_output("z");
  const auto executor = make_executor(network, {.frameworks = {"wanting"}});
  for (const float x : {3.0f, 4.0f}) {
    const auto& got = executor->inference({{"x", Tensor::of<float>({2}, {0, x})}});
    CHECK(got.at("z").tensor().data<float>()[1] == x);
  }
}

TEST_CASE("a kernel that arranges values which nothing keeps is an error") {
  use_frameworks();
  add_framework("stubborn", "1", [](Framework& framework) {
    framework.part<OperatorRegistry>().add_kernel<onnx::nodes::Relu>([](PlanContext& context) {
      context.arrange_output(0, std::make_shared<BackToFront>("stubborn", 16));
      return std::make_unique<ReverseKernel>();
    });
  });
  Network network("relu");
  network.add_parameter("x", Tensor::of<float>({1}, {4}));
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  const auto executor = make_executor(network, {.frameworks = {"stubborn"}});
  CHECK_THROWS_WITH(executor->inference_and_backprop({}, "y"), Catch::Contains("keeps_layouts"));
}
