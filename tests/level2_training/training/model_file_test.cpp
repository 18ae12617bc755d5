// SPDX-License-Identifier: Apache-2.0
// Recipes whose model is an ONNX file.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

constexpr std::int64_t kSide = 28, kClasses = 10;

/// Scores for small images: 4 features, normalized over the batch, and a layer of them. The values
/// are drawn, for the same in all layers would stay so.
Network scorer() {
  Network network("scorer");
  const auto drawn = [](const char* name, Shape shape) {
    Tensor result = Tensor::empty(DType::float32, shape);
    RandomStream random(7, stream_of(name));
    for (float& value : result.span<float>()) value = 0.05f * random.normal();
    return result;
  };
  const auto all = [](float value) { return Tensor::of<float>({4}, {value, value, value, value}); };
  network.add_input("x", DType::float32, {"N", 1, kSide, kSide});
  network.add_parameter("features.weight", drawn("features", {kSide * kSide, 4}));
  network.add_parameter("norm.scale", all(1));
  network.add_parameter("norm.bias", all(0));
  network.add_constant("norm.mean", all(0));
  network.add_constant("norm.var", all(1));
  network.add_parameter("score.weight", drawn("score", {4, kClasses}));
  network.add_node("Flatten", {"x"}, {"flat"});
  network.add_node("MatMul", {"flat", "features.weight"}, {"features"});
  network.add_node("BatchNormalization",
                   {"features", "norm.scale", "norm.bias", "norm.mean", "norm.var"}, {"normal"});
  network.add_node("MatMul", {"normal", "score.weight"}, {"scores"});
  network.add_output("scores");
  return network;
}

Recipe recipe_of(const std::string& model) {
  return Recipe::parse(R"(name: from-file
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 64, test_samples: 50}
  model: {)" + model + R"(}
mutable:
  sampler: {batch_size: 16}
  optimizer: {name: adam, learning_rate: 0.01}
  training: {epochs: 10, seed: 1}
)",
                       "from-file.yaml");
}

std::vector<float> values(const Network& network, const std::string& name) {
  const auto span = network.fetch(name).span<float>();
  return {span.begin(), span.end()};
}

const Measurement& named(const std::vector<Measurement>& results, const std::string& metric) {
  for (const Measurement& result : results) {
    if (result.metric == metric) return result;
  }
  throw NotFound("no record of " + metric);
}

/// A file of that network in a folder of its own.
struct File {
  File() { scorer().save(path); }
  testing::TemporaryFolder folder;
  std::string path = folder / "net.onnx", saved = folder / "trained.onnx";
  [[nodiscard]] std::string model(const std::string& more = "") const {
    return "file: " + path + ", loss: cross_entropy, inputs: {x: image}" + more;
  }
};

}  // namespace

TEST_CASE("a file is trained and saved without its loss, as what test runs saw") {
  const File file;
  TrainingSession session(recipe_of(file.model()), {.save = file.saved});
  const auto results = session.run();
  const auto& losses = named(results, "loss").samples;
  CHECK(losses.back() < 0.7 * losses.front());
  CHECK(named(results, "loss").conditions.at("model") == "net");

  const Network before = Network::load(file.path), after = Network::load(file.saved);
  CHECK(after.input_names() == std::vector<std::string>{"x"});
  CHECK(after.output_names() == std::vector<std::string>{"scores"});
  CHECK(after.graph().nodes.size() == before.graph().nodes.size());
  for (const char* changed : {"features.weight", "score.weight", "norm.mean", "norm.var"}) {
    CAPTURE(changed);
    CHECK(values(after, changed) != values(before, changed));
    CHECK(values(after, changed) == values(session.network(), changed));
  }
  // The file has the network of test runs: running statistics, without dropout.
  const auto executor = make_executor(after);
  const auto test = samplers().at("ordered").make(session.data().test, {{"batch_size", 50}});
  test->reset(0);
  const Batch& batch = *test->next();
  const auto& outputs = executor->inference({{"x", batch.values.at("image")}});
  const Tensor& scores = outputs.at("scores").tensor();
  const auto labels = batch.values.at("label").tensor().span<std::int64_t>();
  int right = 0;
  for (std::int64_t i = 0; i < 50; ++i) {
    const auto row = scores.span<float>().subspan(std::size_t(i * kClasses), kClasses);
    right += std::ranges::max_element(row) - row.begin() == labels[std::size_t(i)] ? 1 : 0;
  }
  CHECK(named(results, "test_accuracy").samples.back() == right / 50.0);
}

TEST_CASE("frozen parameters keep their bits, and are parameters of the saved file") {
  const File file;
  TrainingSession session(recipe_of(file.model(", freeze: [features.*, norm.bias]")),
                          {.save = file.saved});
  (void)session.run();
  const Network before = Network::load(file.path), after = Network::load(file.saved);
  for (const char* frozen : {"features.weight", "norm.bias"}) {
    CHECK(values(after, frozen) == values(before, frozen));
    CHECK(after.is_parameter(frozen));
  }
  for (const char* trained : {"norm.scale", "score.weight"}) {
    CHECK(values(after, trained) != values(before, trained));
  }
}

TEST_CASE("a mode as the file is written leaves running statistics alone") {
  const File file;
  TrainingSession session(recipe_of(file.model(", mode: as_written")));
  (void)session.run();
  CHECK(values(session.network(), "norm.mean") == values(scorer(), "norm.mean"));
}

TEST_CASE("an output of the file may be the loss already") {
  const File file;
  TrainingSession first(recipe_of(file.model()));
  Network whole = first.network();
  whole.save(file.path);
  TrainingSession session(recipe_of("file: " + file.path + ", logits: scores"),
                          {.save = file.saved});
  const auto results = session.run();
  CHECK(named(results, "loss").samples.size() == 40);
  CHECK(Network::load(file.saved).output_names() == whole.output_names());
}

TEST_CASE("a predictor of numbers has no accuracy") {
  const testing::TemporaryFolder folder;
  Network network("line");
  network.add_input("x", DType::float32, {"N", 3});
  network.add_parameter("w", Tensor::zeros(DType::float32, {3, 1}));
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_output("y");
  network.save(folder / "line.onnx");
  const Recipe recipe = Recipe::parse(
      "name: line\nfixed:\n"
      "  dataset: {name: synthetic, fields: 'x float32 3 normal, "
      "t float32 1 normal', train_samples: 8, test_samples: 8}\n"
      "  model: {file: " +
          (folder / "line.onnx") +
          ", loss: mse, label: t}\n"
          "mutable:\n  optimizer: {name: sgd}\n",
      "line.yaml");
  const auto results = TrainingSession(recipe).run();
  CHECK(named(results, "loss").status == Status::passed);
  CHECK_THROWS_AS(named(results, "test_accuracy"), NotFound);
}

TEST_CASE("a model that does not fit its recipe is refused with the place") {
  const File file;
  const auto complaint = [&](const std::string& model) {
    TrainingSession session(recipe_of(model));
  };
  CHECK_THROWS_WITH(complaint("name: lenet, file: a.onnx"), Catch::Contains("write one"));
  CHECK_THROWS_WITH(complaint("loss: mse"), Catch::Contains("model.name"));
  CHECK_THROWS_AS(complaint("file: " + file.folder / "none.onnx"), IoError);
  CHECK_THROWS_WITH(complaint("file: " + file.path + ", loss: cross_entropy"),
                    Catch::Contains("model.inputs.x") && Catch::Contains("image"));
  CHECK_THROWS_WITH(complaint("file: " + file.path + ", loss: cross_entropy, inputs: {z: image}"),
                    Catch::Contains("'z'") && Catch::Contains("from-file.yaml:4"));
  CHECK_THROWS_WITH(complaint(file.model(", label: lable")), Catch::Contains("mean label"));
  CHECK_THROWS_WITH(complaint(file.model(", logits: score")), Catch::Contains("mean scores"));
  CHECK_THROWS_WITH(complaint("file: " + file.path + ", loss: cross_entrpy, inputs: {x: image}"),
                    Catch::Contains("cross_entropy"));
  CHECK_THROWS_WITH(complaint(file.model(", freeze: ['*']")),
                    Catch::Contains("nothing is left to train"));
  CHECK_THROWS_WITH(complaint(file.model(", freeze: [conv.*]")), Catch::Contains("conv.*"));
  CHECK_THROWS_WITH(complaint(file.model(", classes: 3")), Catch::Contains("classes"));
}

TEST_CASE("a checkpoint of another file is refused") {
  const File file;
  const SessionOptions options{.checkpoint = file.folder / "c"};
  (void)TrainingSession(recipe_of(file.model()), options).run();
  (void)TrainingSession(recipe_of(file.model()), {.resume = file.folder / "c"});
  Network other = scorer();
  other.feed("norm.bias", Tensor::of<float>({4}, {1, 2, 3, 4}));
  other.save(file.path);
  CHECK_THROWS_WITH(TrainingSession(recipe_of(file.model()), {.resume = file.folder / "c"}),
                    Catch::Contains("content of net.onnx"));
}

TEST_CASE("a session begins with a file's values, frozen ones too, and says which") {
  const File file;
  TrainingSession first(recipe_of(file.model()), {.save = file.saved});
  (void)first.run();
  std::vector<std::string> said;
  SessionOptions options{.say = [&](const std::string& line) { said.push_back(line); }};
  options.init.path = file.saved;
  TrainingSession second(recipe_of(file.model(", freeze: [features.*]")), options);
  for (const char* name : {"features.weight", "score.weight", "norm.mean"}) {
    CHECK(values(second.network(), name) == values(first.network(), name));
  }
  const auto results = second.run();
  CHECK(std::ranges::count_if(said, [](const std::string& line) {
          return line.find("6 tensors taken") != std::string::npos;
        }) == 1);
  const auto& artefacts = named(results, "loss").artefacts;
  CHECK(std::ranges::count(artefacts, "trained.onnx", &Artefact::name) == 1);
}
