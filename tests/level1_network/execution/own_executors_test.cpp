// SPDX-License-Identifier: Apache-2.0
// Laws for every framework's executor of whole networks.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/validation/network_validation.hpp"
#include "tests/on_toy.hpp"

using namespace d5;

namespace {

/// "torch:torch" and others, of frameworks that can be loaded here.
std::vector<std::string> own_executors() {
  std::vector<std::string> words;
  for (const auto& info : frameworks()) {
    try {
      for (const auto& name : framework(info.name).part<ExecutorRegistry>().names()) {
        words.push_back(info.name + ":" + name);
      }
    } catch (const Unsupported& missing) {
      WARN("left out: " << missing.what());
    }
  }
  if (words.empty()) WARN("no framework with an executor of its own is built");
  return words;
}

/// y = relu(x * w + b), where b is a constant
Network line() {
  Network network("line");
  network.add_input("x", DType::float32, {"N"});
  network.add_parameter("w", Tensor::vector<float>({2}));
  network.add_constant("b", Tensor::vector<float>({1}));
  network.add_node("Mul", {"x", "w"}, {"product"});
  network.add_node("Add", {"product", "b"}, {"sum"});
  network.add_node("Relu", {"sum"}, {"y"});
  network.add_output("y");
  return network;
}

float own_number(const Tensor& tensor) { return tensor.span<float>()[0]; }

/// u = w x, same = u, y = c same, z = u same: a framework may take u and `same` for one tensor.
Network branches() {
  Network network("branches");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", Tensor::vector<float>({3}));
  network.add_constant("c", Tensor::vector<float>({5}));
  network.add_node("Mul", {"w", "x"}, {"u"});
  network.add_node("Identity", {"u"}, {"same"});
  network.add_node("Mul", {"c", "same"}, {"y"});
  network.add_node("Mul", {"u", "same"}, {"z"});
  network.add_node("Relu", {"u"}, {"aside"});
  for (const char* name : {"y", "z", "aside"}) network.add_output(name);
  return network;
}

std::vector<float> run(GraphExecutor& executor, const std::vector<float>& x) {
  const auto y = executor.inference({{"x", Tensor::vector(x)}}).at("y").tensor().span<float>();
  return {y.begin(), y.end()};
}

/// Whether what the last softmax reads agrees with the reference. The weights of the shared
/// squeezenet are all equal, and its softmax chooses among sums of 1e10 that differ by rounding
/// alone.
bool agree_before_softmax(const std::string& word, const std::string& folder) {
  const auto values = [&](const std::string& who) {
    Network network = open_model(folder);
    const onnx::Node softmax = network.graph().nodes.back();
    REQUIRE(softmax.op_type == "Softmax");
    network.add_output(softmax.inputs[0]);
    const auto executor = open_executor(who, network);
    return executor->inference(folder_inputs(folder, network))
        .at(softmax.inputs[0])
        .tensor()
        .copy();
  };
  return compare_values(values(word), values("reference"), {.relative = 1e-5, .absolute = 0}).equal;
}

}  // namespace

TEST_CASE("the shared networks answer what they are said to") {
  const char* data = std::getenv("D5_DATA_DIR");
  const auto networks = std::filesystem::path(data ? data : "") / "onnx-light";
  if (!data || !std::filesystem::is_directory(networks)) {
    WARN("skipped: D5_DATA_DIR has no folder onnx-light");
    return;
  }
  for (const auto& word : own_executors()) {
    for (const auto& folder : std::filesystem::directory_iterator(networks)) {
      for (const auto& record : test_folder(folder.path(), {.frameworks = {word}})) {
        INFO(word << " on " << folder.path() << ": " << record.reason);
        CHECK((record.status == Status::passed || agree_before_softmax(word, folder.path())));
      }
    }
  }
}

TEST_CASE("they agree with the reference, at every size of batch") {
  for (const auto& word : own_executors()) {
    const auto executor = open_executor(word, open_model("lenet"));
    const auto reference = make_executor(open_model("lenet"));
    for (const std::int64_t batch : {1, 3, 1}) {
      const ValueMap inputs = random_inputs(reference->network(), {.batch = batch});
      for (const auto& record : test_executor(*executor, *reference, inputs)) {
        INFO(word << ": " << record.reason);
        CHECK(record.status == Status::passed);
      }
    }
  }
}

TEST_CASE("they see what changed between two runs: sizes, weights, constants, nodes") {
  for (const auto& word : own_executors()) {
    INFO(word);
    Network network = line();
    const auto executor = open_executor(word, network);
    CHECK(run(*executor, {1, -1}) == std::vector<float>{3, 0});
    CHECK(run(*executor, {1, -1, 2}) == std::vector<float>{3, 0, 5});
    network.feed("w", Tensor::vector<float>({3}));
    CHECK(run(*executor, {1, -1}) == std::vector<float>{4, 0});
    network.feed("b", Tensor::vector<float>({5}));
    CHECK(run(*executor, {1, -1}) == std::vector<float>{8, 2});
    onnx::Node negation;
    negation.op_type = "Neg";
    negation.inputs = {"sum"};
    negation.outputs = {"y"};
    network.replace_node(network.producer("y")->name, negation);
    CHECK(run(*executor, {1, -1}) == std::vector<float>{-8, -2});
  }
}

TEST_CASE("they take what is fed as it is at the time, wherever it lies") {
  for (const auto& word : own_executors()) {
    INFO(word);
    const auto executor = open_executor(word, line());
    Tensor x = Tensor::vector<float>({1});
    const auto y = [&] {
      return executor->inference({{"x", x}}).at("y").tensor().span<float>()[0];
    };
    CHECK(y() == 3);
    x.span<float>()[0] = 2;
    CHECK(y() == 5);
    x = Tensor::vector<float>({4});
    CHECK(y() == 9);
  }
}

TEST_CASE("wrong inputs are refused by name") {
  for (const auto& word : own_executors()) {
    INFO(word);
    const auto executor = open_executor(word, line());
    CHECK_THROWS_AS(executor->inference({}), NotFound);
    CHECK_THROWS_AS(executor->inference({{"z", Tensor::vector<float>({1})}}), NotFound);
    CHECK_THROWS_AS(executor->inference({{"x", Tensor::scalar(1.0F)}}), ShapeError);
    CHECK_THROWS_AS(executor->inference({{"x", Tensor::vector<double>({1})}}), TypeError);
    CHECK(run(*executor, {1}) == std::vector<float>{3});
  }
}

TEST_CASE("those that train give the gradient of any tensor") {
  const ValueMap two{{"x", Tensor::vector<float>({2})}};  // u = 6, y = 30, z = 36
  for (const auto& word : own_executors()) {
    INFO(word);
    std::shared_ptr<GraphExecutor> executor;
    try {
      executor = open_executor(word, branches(),
                               {.gradients = {"x", "w", "c", "u", "same", "z", "y", "aside"}});
      (void)executor->inference_and_backprop(two, "z");
    } catch (const Unsupported& refusal) {
      WARN("left out: " << refusal.what());
      continue;
    }
    for (int run = 0; run < 2; ++run) {
      (void)executor->inference_and_backprop(two, "z");
      CHECK(own_number(executor->gradient("z")) == 1);
      CHECK(own_number(executor->gradient("same")) == 6);
      CHECK(own_number(executor->gradient("u")) == 12);
      CHECK(own_number(executor->gradient("x")) == 36);
      CHECK(own_number(executor->gradient("w")) == 24);
      CHECK(own_number(executor->network().parameter("w").gradient) == 24);
      CHECK(own_number(executor->gradient("c")) == 0);
      CHECK(own_number(executor->gradient("y")) == 0);
      CHECK(own_number(executor->gradient("aside")) == 0);
      CHECK(own_number(executor->inference(two).at("y").tensor()) == 30);
    }
  }
}

TEST_CASE("an output whose size only running tells is given, or refused") {
  Network network("places");
  network.add_input("x", DType::float32, {3});
  network.add_node("NonZero", {"x"}, {"places"});
  network.add_output("places");
  for (const auto& word : own_executors()) {
    INFO(word);
    const auto executor = open_executor(word, network);
    const auto places = [&](std::vector<float> x) {
      return executor->inference({{"x", Tensor::vector(x)}}).at("places").tensor().copy();
    };
    try {
      (void)places({1, 1, 1});
    } catch (const Unsupported& refusal) {
      CHECK_THAT(refusal.what(),
                 Catch::Contains("NonZero") || Catch::Contains("data-dependent shapes"));
      continue;
    }
    const Tensor two = places({1, 0, 2});
    CHECK(two.shape() == Shape{1, 2});
    CHECK(two.span<std::int64_t>()[1] == 2);
    CHECK(places({0, 0, 0}).shape() == Shape{1, 0});
    CHECK(places({1, 1, 2}).shape() == Shape{1, 3});
  }
}

TEST_CASE("they give gradients, or refuse them and still run forward") {
  for (const auto& word : own_executors()) {
    INFO(word);
    const auto executor = open_executor(word, open_model("lenet", {{"with_loss", true}}));
    const ValueMap inputs = random_inputs(executor->network(), {.batch = 2});
    try {
      const ValueMap& outputs = executor->inference_and_backprop(inputs, "loss");
      CHECK(outputs.contains("loss"));
    } catch (const Unsupported& refusal) {
      CHECK_THAT(refusal.what(), Catch::Contains("gradient"));
    }
    CHECK(executor->inference(inputs).contains("loss"));
  }
}

TEST_CASE("no host's time is labelled with a device: executors of the host refuse others") {
  const std::vector<std::string> words = own_executors();
  const Device device = test::toy();
  for (const auto& word : words) {
    INFO(word);
    CHECK_THROWS_MATCHES(open_executor(word, line(), {.device = device}), Unsupported,
                         Catch::Matchers::Message(
                             "executor " + word +
                             " does not compute on toy:0, only on the host; use frameworks that "
                             "have kernels there ('d5 list devices'), or leave the device out"));
  }
  if (words.empty()) return;
  for (const auto& record : bench_network(
           "lenet", {.frameworks = words, .device = device, .measuring = {.samples = 2}})) {
    INFO(record.framework << ": " << record.reason);
    CHECK(record.status == Status::unsupported);
    CHECK(record.samples.empty());
  }
}

TEST_CASE("an executor that declares a kind of device gets that device") {
  const Device device = test::toy();
  Device seen = {};
  add_framework("elsewhere", "1", [&seen](Framework& framework) {
    auto& executors = framework.part<ExecutorRegistry>();
    for (const char* name : {"there", "here"}) {
      executors.add(name,
                    {"keeps the device that it is given",
                     [&seen](Network network, const ExecutorOptions& options) {
                       seen = options.device;
                       return std::shared_ptr<GraphExecutor>(make_executor(std::move(network)));
                     }});
    }
    executors.computes_on("there", test::toy().kind);
  });
  (void)open_executor("elsewhere:there", line(), {.device = device});
  CHECK(seen == device);
  CHECK_THROWS_AS(open_executor("elsewhere:here", line(), {.device = device}), Unsupported);
}
