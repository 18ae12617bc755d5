// SPDX-License-Identifier: Apache-2.0
// What describing a network writes is right to lint, and runs; or describing it says why not.
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/manifest/described_model.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/level2_training/data/container.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

using Dims = std::vector<onnx::Dim>;
using testing::ToyEvaluation;

struct MadeNetwork {
  std::string name;
  std::function<void(Network&)> build;
};

/// A network of one input, which is flattened to real numbers.
MadeNetwork flat(const std::string& name, DType dtype, Dims dims) {
  return {name, [=](Network& network) {
            network.add_input("x", dtype, dims);
            network.add_node("Cast", {"x"}, {"real"}, {{"to", std::int64_t{1}}});
            network.add_node("Flatten", {"real"}, {"y"});
            network.add_output("y");
          }};
}

std::vector<MadeNetwork> networks() {
  const auto real = DType::float32;
  std::vector<MadeNetwork> all = {flat("three channels", real, {"N", 3, 16, 16}),
                                  flat("one channel", real, {"N", 1, 16, 16}),
                                  flat("one channel, not square", real, {"N", 1, 12, 16}),
                                  flat("channels last", real, {"N", 16, 16, 3}),
                                  flat("one channel last", real, {"N", 16, 16, 1}),
                                  flat("bytes, channels last", DType::uint8, {"N", 16, 16, 3}),
                                  flat("bytes, one channel last", DType::uint8, {"N", 16, 16, 1}),
                                  flat("bytes, channels first", DType::uint8, {"N", 3, 16, 16}),
                                  flat("half, channels first", DType::float16, {"N", 3, 16, 16}),
                                  flat("open sizes", real, {"N", 3, "H", "W"}),
                                  flat("a batch of one", real, {1, 3, 16, 16}),
                                  flat("a batch without a name", real, {onnx::Dim(), 10}),
                                  flat("features", real, {"N", 10}),
                                  flat("tokens", DType::int64, {"N", "L"}),
                                  flat("many dimensions", real, {"N", 2, 3, 4, 5}),
                                  flat("a fixed batch", real, {8, 10}),
                                  flat("no batch", real, {784})};
  all.push_back({"one number each", [](Network& network) {
                   network.add_input("x", DType::float32, {"N"});
                   network.add_node("Neg", {"x"}, {"y"});
                   network.add_output("y");
                 }});
  all.push_back({"several inputs", [](Network& network) {
                   network.add_input("a", DType::float32, {"N", 3});
                   network.add_input("b", DType::float32, {"N", 3});
                   network.add_node("Add", {"a", "b"}, {"y"});
                   network.add_output("y");
                 }});
  const auto with_rate = [](Network& network) {
    network.add_input("x", DType::float32, {"N", 4});
    network.add_input("sr", DType::int64, {});
    network.add_node("Cast", {"sr"}, {"rate"}, {{"to", std::int64_t{1}}});
    network.add_node("Mul", {"x", "rate"}, {"y"});
    network.add_output("y");
  };
  all.push_back({"a number of the whole batch", with_rate});
  all.push_back({"a state", [=](Network& network) {
                   with_rate(network);
                   network.add_input("state", DType::float32, {2, "N", 4});
                   network.add_node("Neg", {"state"}, {"stateN"});
                   network.add_output("stateN");
                 }});
  all.push_back({"a sequence before its batch", [](Network& network) {
                   network.add_input("x", DType::float32, {"N", 4});
                   network.add_input("words", DType::float32, {"T", "N", 4});
                   network.add_node("Neg", {"words"}, {"z"});
                   network.add_node("Neg", {"x"}, {"y"});
                   network.add_output("y");
                   network.add_output("z");
                 }});
  all.push_back({"nothing but numbers", [](Network& network) {
                   network.add_input("sr", DType::float32, {});
                   network.add_constant("one", Tensor::of<float>({1, 1}, {1.0F}));
                   network.add_node("Mul", {"sr", "one"}, {"y"});
                   network.add_output("y");
                 }});
  all.push_back({"a sum of the whole batch", [](Network& network) {
                   network.add_input("x", DType::float32, {"N", 4});
                   network.add_node("ReduceSum", {"x"}, {"y"}, {{"keepdims", std::int64_t{0}}});
                   network.add_output("y");
                 }});
  all.push_back({"an answer that is turned", [](Network& network) {
                   network.add_input("x", DType::float32, {"N", 4});
                   network.add_node("Transpose", {"x"}, {"y"});
                   network.add_output("y");
                 }});
  return all;
}

/// A data set that has what the inputs are made from: pictures, or zeros of the fields' shapes.
std::string dataset_for(const ToyEvaluation& toy, const ModelManifest& model) {
  if (model.inputs.front().modality == "image") return toy / "colours.yaml";
  std::vector<Dataset::Field> fields;
  std::vector<Tensor> sample;
  for (const ModelInput& input : model.inputs) {
    std::vector<std::int64_t> dims;
    for (const std::int64_t size : input.shape) dims.push_back(size > 0 ? size : 5);
    const DType dtype = dtype_from_name(input.type);
    fields.push_back({input.field, {dtype, Shape(dims)}});
    dims.insert(dims.begin(), 1);
    sample.push_back(Tensor::zeros(dtype, Shape(dims)));
  }
  const auto writer = containers().at("npz").make()->create(toy / "samples.npz", fields);
  for (int i = 0; i < 6; ++i) writer->add(std::to_string(i), sample);
  writer->finish();
  write_file(toy / "samples.yaml",
             "kind: dataset\nname: samples\nversion: 1.0.0-dev\ntask: t\nlicence: CC0-1.0\nreader: "
             "{name: container, train: samples.npz}\npart: train\n");
  return toy / "samples.yaml";
}

void expect_that_it_runs(const ToyEvaluation& toy, const std::string& text) {
  write_file(toy / "made.yaml", text);
  for (const auto& fault : lint_manifest(text, "made.yaml")) CHECK(fault.what == "");
  CHECK(missing_files(text, toy / "made.yaml").empty());
  const auto model = find_manifest<ModelManifest>(toy / "made.yaml").manifest;
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy / "made.yaml"};
  manifest.dataset = dataset_for(toy, model);
  manifest.scenarios = {{"closed_loop"}};
  manifest.queries = 5;
  manifest.accuracy = false;
  const bool has_any_batch = model.inputs.front().shape != std::vector<std::int64_t>{3, 0, 0} &&
                             text.find("a-batch-of-one") == std::string::npos;
  if (has_any_batch) manifest.batches = {1, 2};
  const Results results = evaluate(manifest);
  CHECK(results.measurements.size() > 3);
  for (const Measurement& record : results.measurements) {
    INFO(text);
    CHECK(record.status != Status::failed);
    if (record.status == Status::failed) FAIL_CHECK(record.reason);
  }
}

}  // namespace

TEST_CASE("a described network is right and runs, wherever its batch is") {
  for (const MadeNetwork& made : networks()) {
    INFO(made.name);
    const ToyEvaluation toy;
    Network network("made");
    made.build(network);
    network.save(toy / (made.name + ".onnx"));
    expect_that_it_runs(toy, described_model(toy / (made.name + ".onnx")));
  }
}

TEST_CASE("the steps of an image are those of its layout and type") {
  const ToyEvaluation toy;
  const auto steps_of = [&](DType dtype, const Dims& dims) {
    Network network("made");
    flat("", dtype, dims).build(network);
    network.save(toy / "made.onnx");
    std::string names;
    const auto model =
        parse_manifest<ModelManifest>(described_model(toy / "made.onnx"), "made.yaml");
    for (const EntryChoice& step : model.inputs.at(0).steps) names += step.name + " ";
    return names;
  };
  CHECK(steps_of(DType::float32, {"N", 3, 8, 8}) == "decode resize centre_crop normalise ");
  CHECK(steps_of(DType::float32, {"N", 1, 8, 8}) ==
        "decode resize centre_crop greyscale normalise ");
  CHECK(steps_of(DType::float32, {"N", 8, 8, 3}) == "decode resize centre_crop cast ");
  CHECK(steps_of(DType::uint8, {"N", 8, 8, 1}) == "decode resize centre_crop greyscale ");
  CHECK(steps_of(DType::float16, {"N", 3, 8, 8}) == "decode resize centre_crop normalise cast ");
  CHECK(steps_of(DType::uint8, {"N", 3, 8, 8}) == "");  // no step puts bytes' channels first
  CHECK(steps_of(DType::float32, {"N", 8, 8, 4}) == "");
}

}  // namespace d5
