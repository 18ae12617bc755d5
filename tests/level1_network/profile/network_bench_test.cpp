// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/network_bench.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "level1_network/nodes/identical.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

Network relu() {
  Network network("relu");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("a network's benchmark tells time, samples a second and what the executor adds") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "small.onnx";
  relu().save(file);
  const auto records = bench_network(file, {.sizes = {.batch = 4}});
  REQUIRE(records.size() == 3);
  CHECK(records[0].metric == "time");
  CHECK(records[1].metric == "sample_rate");
  CHECK(records[1].samples.at(0) * records[0].samples.at(0) == Approx(4));
  CHECK(records[2].metric == "framework_overhead");
  CHECK(records[2].status != Status::unsupported);
  for (const auto& m : records) {
    CHECK(m.subject == "small");
    CHECK(m.level == "network");
    CHECK(m.conditions.at("batch") == "4");
    CHECK_THAT(m.command, Catch::StartsWith("d5 net bench " + file + " --batch 4"));
    REQUIRE(m.artefacts.size() == 1);
    CHECK(m.artefacts[0].sha256 == detail::sha256(read_file(file)));
  }
}

TEST_CASE("a word names the model and the executor") {
  CHECK(ExecutorWord("torch+reference").frameworks() ==
        std::vector<std::string>{"torch", "reference"});
  CHECK_FALSE(ExecutorWord("torch+reference").is_own());
  CHECK(ExecutorWord(std::vector<std::string>{"torch", "reference"}).text() == "torch+reference");
  const ExecutorWord own = "torch:own:threads=2";
  CHECK(own.frameworks() == std::vector<std::string>{"torch"});
  CHECK(own.is_own());
  CHECK(own.own().name == "own");
  CHECK(own.own().settings.text("threads", "") == "2");
  CHECK_THROWS_AS(ExecutorWord("torch:own:threads").own(), ValueError);
  CHECK(version_of("auto") == "");
  CHECK(open_executor("reference", relu())->framework() == "reference");
  CHECK_THROWS_AS(open_executor("reference:no-such-executor", relu()), NotFound);
  CHECK_THROWS_AS(find_executor("reference:no-such-executor:threads=2"), NotFound);
  CHECK_THROWS_AS(find_executor("reference"), ValueError);
  CHECK(open_model("lenet").name() == "lenet");
  CHECK(loss_of(open_model("lenet")) == "");
  CHECK(loss_of(open_model("lenet", {{"with_loss", true}})) == "loss");
  CHECK_THROWS_WITH(open_model("lenett"), Catch::Contains("lenet"));
  CHECK_THROWS_AS(open_model("/nowhere/lenet.onnx"), IoError);
  CHECK(model_artefact("lenet").name == "network lenet");
}

TEST_CASE("a case is a network of one node, its weights a parameter") {
  const std::string line = "Gemm 2x3 3x4~2 transA=0";
  Network network = open_model(line);
  CHECK(network.input_names() == std::vector<std::string>{"input0"});
  REQUIRE(network.parameters().size() == 1);
  CHECK(network.parameters().front().value.shape() == Shape{3, 4});
  const Network other = open_model(line, {{"seed", 7}});
  CHECK_FALSE(identical(network.fetch("input1"), other.fetch("input1")));
  CHECK(open_model("Relu@9 4").model().opset_imports.at("") == 6);  // the same since then
  CHECK(open_model("Reshape 2x3 int64:{3,2}").parameters().empty());
  CHECK_THROWS_AS(open_model("Gemm 2x3 3x"), FormatError);
  CHECK(model_artefact(line).name == "case " + line);
  const std::string sizes = "Relu {n}x2 for n=1,3";
  CHECK(models_of({"lenet", sizes}) == std::vector<std::string>{"lenet", "Relu 1x2", "Relu 3x2"});
  const testing::TemporaryFolder folder;
  write_file(folder / "cases.txt", "# two\nRelu 4\n\nAbs 5\n");
  CHECK(models_of({folder / "cases.txt"}) == std::vector<std::string>{"Relu 4", "Abs 5"});
}

TEST_CASE("a folder of models may have a space in its name, and is no case") {
  const testing::TemporaryFolder parent;
  const std::string folder = parent / "some models";
  std::filesystem::create_directory(folder);
  relu().save(folder + "/a.onnx");
  CHECK(models_of({folder}) == std::vector<std::string>{folder + "/a.onnx"});
}

TEST_CASE("a model has one name, wherever it lies") {
  CHECK(model_name("lenet") == "lenet");
  CHECK(model_name("Gemm 2x3 3x4") == "Gemm 2x3 3x4");
  CHECK(model_name("/somewhere/resnet50-v1.onnx") == "resnet50-v1");
  CHECK(model_name("/elsewhere/resnet50/model.onnx") == "resnet50");
  const testing::TemporaryFolder parent;
  const std::string folder = parent / "a-model";
  std::filesystem::create_directory(folder);
  relu().save(folder + "/model.onnx");
  CHECK(model_name(folder) == "a-model");
  CHECK(model_name(folder + "/") == "a-model");
}

TEST_CASE("open sizes are the batch, or their own") {
  const Network network = relu();
  const auto shape = [&](const OpenSizes& sizes) {
    return to_string(random_inputs(network, sizes).at("x").tensor().shape());
  };
  CHECK(shape({.batch = 3}) == "3x2");
  CHECK(shape({.batch = 3, .by_name = {{"N", 5}}}) == "5x2");
  CHECK_THROWS_WITH(shape({.by_name = {{"M", 5}}}), Catch::Contains("known: N"));
  Network fixed("fixed");
  fixed.add_input("x", DType::float32, {std::int64_t{2}});
  CHECK(random_inputs(fixed).size() == 1);
  CHECK_THROWS_AS(random_inputs(fixed, {.batch = 3}), ValueError);
  const auto value = [&](std::uint64_t seed) {
    return random_inputs(network, {}, seed).at("x").tensor().span<float>()[0];
  };
  CHECK(value(1) == value(1));
  CHECK(value(1) != value(2));
}
