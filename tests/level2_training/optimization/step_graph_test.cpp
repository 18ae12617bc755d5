// SPDX-License-Identifier: Apache-2.0
// A step as a graph against the optimizer that it was made of: the same bits, step by step.
#include "d5/level2_training/optimization/step_graph.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <map>
#include <random>

#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/optimization/schedule.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/frozen_parameters.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

Batch graph_batch(std::int64_t seed) {
  Batch batch;
  batch.size = 4;
  Tensor images = Tensor::empty(DType::float32, {4, 1, 28, 28});
  for (std::size_t i = 0; i < images.span<float>().size(); ++i) {
    images.span<float>()[i] = float((std::int64_t(i) * 37 + seed * 101) % 255) / 255;
  }
  batch.values["image"] = images;
  batch.values["label"] = Tensor::of<std::int64_t>({4}, {1, 5, 7, seed % 10});
  return batch;
}

std::shared_ptr<Optimizer> lenet_network(const std::string& name, const Settings& settings = {},
                                         const ExecutorOptions& options = {}) {
  return optimizers().at(name).make(
      make_executor(models().at("lenet").make({{"with_loss", true}, {"seed", 3}}), options), "loss",
      settings);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.desc() == b.desc() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Parameters, and constants that runs overwrite.
void expect_same_values(Optimizer& optimizer, const StepGraph& graph) {
  Network& trained = optimizer.executor().network();
  for (const Parameter& parameter : trained.parameters()) {
    INFO(parameter.name);
    REQUIRE(same_bits(parameter.value, graph.network().fetch(parameter.name)));
  }
  for (const auto& [constant, output] : trained.updates()) {
    INFO(constant);
    REQUIRE(same_bits(trained.fetch(constant), graph.network().fetch(constant)));
  }
}

/// Some steps, the graph saved and loaded in their midst.
void expect_same_steps(
    Optimizer& optimizer, int steps = 4,
    const std::function<Batch(int)>& make = [](int i) { return graph_batch(i); }) {
  const testing::TemporaryFolder folder;
  StepGraph graph(optimizer);
  expect_same_values(optimizer, graph);
  for (int i = 0; i < steps; ++i) {
    INFO("step " << i + 1);
    const Batch batch = make(i);
    const Value loss = optimizer.step(batch).at(optimizer.loss());
    const ValueMap& outputs = graph.step(batch);
    REQUIRE(same_bits(loss.tensor(), outputs.at(graph.loss()).tensor()));
    expect_same_values(optimizer, graph);
    if (i + 1 != steps / 2) continue;
    const std::string file = folder / "step.onnx";
    graph.save(file);
    graph = StepGraph::load(file, {.frameworks = frameworks_of(optimizer.executor())});
    expect_same_values(optimizer, graph);
    CHECK(graph.steps() == i + 1);
    CHECK(graph.loss() == optimizer.loss());
  }
}

}  // namespace

TEST_CASE("a step of sgd on LeNet is one graph, in memory and in a file") {
  expect_same_steps(*lenet_network("sgd", {{"learning_rate", 0.1}, {"weight_decay", 0.013}}));
}

namespace {

/// Mean of (x w + b)^2 over the elements, in a type.
Network squares(DType dtype) {
  const auto values = [&](const Shape& shape, double step) {
    Tensor result = Tensor::empty(dtype, shape);
    dispatch(FloatTypes{}, dtype, "test", [&]<class T>() {
      for (std::int64_t i = 0; i < result.elements(); ++i) {
        result.data<T>()[i] = T(float(step * double(i % 7 - 3)));
      }
    });
    return result;
  };
  Network network("squares");
  network.add_input("x", dtype, {"N", 3});
  network.add_parameter("w", values({3, 5}, 0.37));
  network.add_parameter("b", values({5}, -0.11));
  network.add_node("Gemm", {"x", "w", "b"}, {"y"});
  network.add_node("Mul", {"y", "y"}, {"squares"});
  network.add_node("ReduceMean", {"squares"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("y");
  network.add_output("loss");
  return network;
}

Batch graph_batch(DType dtype, std::int64_t seed) {
  Batch batch;
  batch.size = 2;
  Tensor x = Tensor::empty(dtype, {2, 3});
  dispatch(FloatTypes{}, dtype, "test", [&]<class T>() {
    for (std::int64_t i = 0; i < 6; ++i) x.data<T>()[i] = T(float((i * 5 + seed) % 9) / 4 - 1);
  });
  batch.values["x"] = x;
  return batch;
}

}  // namespace

TEST_CASE("every rule of one parameter gives its optimizer's bits as a node") {
  const std::map<std::string, std::vector<Settings>> odd{
      {"adam", {{{"amsgrad", true}, {"weight_decay", 0.1}, {"epsilon", 0.03}}}},
      {"adamw", {{{"amsgrad", true}, {"learning_rate", 0.0371}}}},
      {"adafactor", {{{"epsilon1_is", "added"}, {"weight_decay", 0.3}}}},
      {"adagrad", {{{"initial_accumulator_value", 0.7}, {"learning_rate_decay", 0.1}}}},
      {"asgd", {{{"t0", 2}, {"lambda", 0.1}}}},
      {"momentum",
       {{{"nesterov", true}, {"weight_decay", 0.01}, {"learning_rate", 0.07}},
        {{"dampening", 0.3}, {"momentum", 0.77}}}},
      {"muon", {{{"coefficients", "3,-4.5,2"}, {"iterations", 3}, {"nesterov", false}}}},
      {"nadam", {{{"decoupled_weight_decay", true}, {"weight_decay", 0.2}}}},
      {"rmsprop",
       {{{"centered", true}}, {{"momentum", 0.6}}, {{"centered", true}, {"momentum", 0.3}}}},
      {"shampoo", {{{"every", 2}, {"graft", "sgd"}}, {{"largest_side", 8}, {"every", 1}}}},
      {"schedule_free_adamw", {{{"warmup_steps", 3}, {"weight_decay", 0.1}}}}};
  std::vector<std::string> refused;
  for (const std::string& name : optimizers().names()) {
    std::vector<Settings> all{{}};
    if (const auto more = odd.find(name); more != odd.end()) {
      all.insert(all.end(), more->second.begin(), more->second.end());
    }
    for (const Settings& settings : all) {
      for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
        INFO(name << " " << name_of(dtype));
        const auto optimizer =
            optimizers().at(name).make(make_executor(squares(dtype)), "loss", settings);
        try {
          StepGraph graph(*optimizer);
        } catch (const Unsupported& error) {
          if (refused.empty() || refused.back() != name) refused.push_back(name);
          continue;
        }
        expect_same_steps(*optimizer, 6, [&](int i) { return graph_batch(dtype, i); });
      }
    }
  }
  CHECK(refused == std::vector<std::string>{"accelegrad", "lbfgs", "stochastic_lbfgs"});
}

TEST_CASE("an update rule that has no node is refused, with a way out") {
  const auto refuses = [](Optimizer& optimizer, const std::string& words) {
    CHECK_THROWS_MATCHES(StepGraph(optimizer), Unsupported,
                         Catch::Predicate<Error>([&](const Error& error) {
                           return std::string(error.what()).find(words) != std::string::npos;
                         }));
  };
  refuses(*lenet_network("lbfgs"), "ElementOptimizer or TensorOptimizer");
  const auto clipped = lenet_network("sgd");
  dynamic_cast<ThreeStepOptimizer&>(*clipped).add(step_modifiers().at("clip_norm").make({}));
  refuses(*clipped, "clip_norm");
  const auto summed = lenet_network("sgd");
  dynamic_cast<ThreeStepOptimizer&>(*summed).add(step_modifiers().at("accumulate").make({}));
  refuses(*summed, "accumulate");
  refuses(*optimizers().at("sgd").make(make_executor(squares(DType::bfloat16)), "loss"),
          "'w' is bfloat16");
  Network dropping = squares(DType::float32);
  dropping.add_node("RandomNormalLike", {"y"}, {"noise"});
  refuses(*optimizers().at("sgd").make(make_executor(dropping), "loss"), "random numbers");
  refuses(*lenet_network("sgd", {{"groups.0.name", "*"}, {"groups.0.learning_rate", 1}}),
          "in a group");
}

TEST_CASE("LeNet trains alike as a graph") {
  for (const char* name : {"momentum", "adam", "adamw", "lars", "lamb", "muon", "nadam"}) {
    INFO(name);
    expect_same_steps(*lenet_network(name));
  }
}

TEST_CASE("groups of parameters are updates of their own, and change in proportion") {
  const auto optimizer = lenet_network("nadam", {{"learning_rate", 0.003},
                                                 {"groups.0.name", "*.bias"},
                                                 {"groups.0.weight_decay", 0.125},
                                                 {"groups.1.name", "conv*"},
                                                 {"groups.1.learning_rate", 0.0007}});
  StepGraph graph(*optimizer);
  const testing::TemporaryFolder folder;
  int step = 0;
  for (const double rate : {0.003, 0.0011, 0.0004, 0.0023}) {
    optimizer->hyper_parameters().set("learning_rate", rate);
    graph.hyper_parameters().set("learning_rate", rate);
    const Batch batch = graph_batch(++step);
    optimizer->step(batch);
    graph.step(batch);
    expect_same_values(*optimizer, graph);
    graph.save(folder / "step.onnx");
    graph = StepGraph::load(folder / "step.onnx");
    CHECK(graph.hyper_parameters().at("learning_rate") == rate);
  }
}

TEST_CASE("a schedule sets a graph's numbers from outside") {
  const auto optimizer = lenet_network("sgd");
  auto& three_step = dynamic_cast<ThreeStepOptimizer&>(*optimizer);
  three_step.add(scheduled("learning_rate", {"cosine", {{"length", 5}}}));
  StepGraph graph(*optimizer);
  for (int i = 0; i < 5; ++i) {
    optimizer->step(graph_batch(i));
    const double rate = optimizer->hyper_parameters().at("learning_rate");
    graph.hyper_parameters().set("learning_rate", rate);
    graph.step(graph_batch(i));
    expect_same_values(*optimizer, graph);
  }
}

namespace {

std::shared_ptr<Optimizer> resnet(const std::string& name, const ExecutorOptions& options = {}) {
  return optimizers().at(name).make(
      make_executor(models().at("resnet-20").make({{"with_loss", true}, {"training", true}}),
                    options),
      "loss");
}

Batch coloured(std::int64_t seed) {
  Batch batch;
  batch.size = 2;
  Tensor images = Tensor::empty(DType::float32, {2, 3, 32, 32});
  for (std::size_t i = 0; i < images.span<float>().size(); ++i) {
    images.span<float>()[i] = float((std::int64_t(i) * 41 + seed * 103) % 255) / 255;
  }
  batch.values["image"] = images;
  batch.values["label"] = Tensor::of<std::int64_t>({2}, {7, seed % 10});
  return batch;
}

}  // namespace

TEST_CASE("any executor's run of the graph is a step") {
  const auto optimizer = resnet("adam");
  StepGraph graph(*optimizer);
  const auto executor = make_executor(graph.network());
  for (int i = 0; i < 2; ++i) {
    const Value loss = optimizer->step(coloured(i)).at("loss");
    ValueMap inputs = coloured(i).values;
    for (const std::string& name : optimizer->hyper_parameters().names()) {
      inputs["optimizer/" + name] = Tensor::scalar(optimizer->hyper_parameters().at(name));
    }
    const ValueMap& outputs = executor->inference(inputs);
    CHECK(same_bits(loss.tensor(), outputs.at("loss").tensor()));
    expect_same_values(*optimizer, graph);
  }
  CHECK(graph.steps() == 2);
}

TEST_CASE("running statistics are part of the step") {
  expect_same_steps(*resnet("momentum"), 2, coloured);
}

TEST_CASE("a step in training mode stands beside a network that infers") {
  const auto executor = std::shared_ptr<GraphExecutor>(
      make_executor(models().at("resnet-20").make({{"with_loss", true}})));
  executor->set_mode(NetworkMode::training);
  const auto optimizer = optimizers().at("adamw").make(executor, "loss");
  expect_same_steps(*optimizer, 2, coloured);
  StepGraph graph(*optimizer);
  const testing::TemporaryFolder folder;
  graph.save(folder / "step.onnx");
  const ValueMap images{{"image", coloured(9).values.at("image")}};
  const auto infer = make_executor(Network::load(folder / "step.onnx"));
  executor->set_mode(NetworkMode::inference);
  const Tensor given = infer->inference(images).at("logits").tensor();
  CHECK(same_bits(given, executor->inference(coloured(9).values).at("logits").tensor()));
  CHECK(
      same_bits(given, make_executor(graph.inference())->inference(images).at("logits").tensor()));
}

TEST_CASE("frozen parameters stay as they are") {
  Network network = models().at("lenet").make({{"with_loss", true}});
  const auto frozen = freeze(network, {"conv1*"});
  const auto optimizer = optimizers().at("adam").make(make_executor(network), "loss");
  expect_same_steps(*optimizer);
  StepGraph graph(*optimizer);
  graph.step(graph_batch(7));
  for (const std::string& name : frozen) {
    CHECK(same_bits(graph.network().fetch(name), network.fetch(name)));
  }
}

TEST_CASE("the loss may be all that a network gives out") {
  Network network = squares(DType::float32);
  onnx::Model model = network.model();
  std::erase_if(model.graph.outputs, [](const auto& output) { return output.name == "y"; });
  network.rewrite(std::move(model));
  const auto optimizer = optimizers().at("adam").make(make_executor(network), "loss");
  expect_same_steps(*optimizer, 4, [](int i) { return graph_batch(DType::float32, i); });
}

TEST_CASE("a graph ends where the Trainer does") {
  const auto data = test::points(64);
  const auto optimizer =
      optimizers().at("lamb").make(make_executor(test::points_network()), "loss");
  StepGraph graph(*optimizer);
  const Settings settings{{"batch_size", 7}, {"seed", 5}};
  const auto train = samplers().at("shuffle").make(data, settings);
  Trainer(*optimizer, *train, nullptr, {.epochs = 3}).run();
  const auto again = samplers().at("shuffle").make(data, settings);
  for (int epoch = 0; epoch < 3; ++epoch) {
    again->reset(epoch);
    while (const Batch* batch = again->next()) graph.step(*batch);
  }
  CHECK(graph.steps() == 30);
  expect_same_values(*optimizer, graph);
}

TEST_CASE("a damaged file is refused, or is another step") {
  const testing::TemporaryFolder folder;
  const auto optimizer =
      optimizers().at("nadam").make(make_executor(test::points_network()), "loss");
  StepGraph(*optimizer).save(folder / "step.onnx");
  const std::string whole = read_file(folder / "step.onnx", std::size_t{1} << 20);
  const auto sampler = samplers().at("ordered").make(test::points(4), {{"batch_size", 4}});
  const Batch batch = *sampler->next();
  std::mt19937_64 draw(11);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string bytes = whole;
    for (int k = 0; k <= i % 3; ++k) bytes[draw() % bytes.size()] = char(draw());
    write_file(folder / "damaged.onnx", bytes);
    try {
      StepGraph graph = StepGraph::load(folder / "damaged.onnx");
      graph.step(batch);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 50);
}

TEST_CASE("a graph runs in the frameworks of its optimizer") {
  const auto loadable = framework_words({"all"});
  int compared = 0;
  for (const char* name : {"torch", "onednn"}) {
    if (std::ranges::find(loadable, name) == loadable.end()) continue;
    INFO(name);
    const ExecutorOptions mixed{.frameworks = {name, "reference"}};
    expect_same_steps(*lenet_network("adam", {}, mixed));
    expect_same_steps(*resnet("lamb", mixed), 2, coloured);
    ++compared;
  }
  if (compared == 0) WARN("skipped: neither torch nor onednn");
}
