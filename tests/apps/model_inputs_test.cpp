// SPDX-License-Identifier: Apache-2.0
// Inputs of networks on the command line: from a test folder, from files, and random.
#include "core/files/zip.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tensor/npy.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/onnx/file.hpp"
#include "tests/apps/program_run.hpp"
#include "tests/level1_network/sized_networks.hpp"

using namespace d5;
using Catch::Contains;
using testing::run_d5;
using testing::TemporaryFolder;

namespace {

/// Rows of a table of three, for N of them.
void write_lookup(const std::string& path) {
  Network network("lookup");
  network.add_input("ids", DType::int64, {"N"});
  network.add_constant("table", Tensor::of<float>({3, 1}, {10, 20, 30}));
  network.add_node("Gather", {"table", "ids"}, {"rows"}, {}, "lookup");
  network.add_output("rows");
  network.save(path);
}

/// Declared as 1xN, computed as 1x1xN.
void write_contradiction(const std::string& path) {
  Network network("contradiction");
  network.add_input("x", DType::float32, {std::int64_t{1}, "N"});
  network.add_constant("axis", Tensor::vector<std::int64_t>({0}));
  network.add_node("Unsqueeze", {"x", "axis"}, {"y"});
  network.add_output("y");
  onnx::Model model = network.model();
  model.graph.outputs.front().type = model.graph.inputs.front().type;
  onnx::save(model, path);
}

}  // namespace

TEST_CASE("every command of networks takes inputs from files") {
  const TemporaryFolder folder;
  const std::string model = folder / "lookup.onnx", npy = folder / "ids.npy";
  write_lookup(model);
  const Tensor ids = Tensor::vector<std::int64_t>({2, 0, 1, 2});
  write_file(npy, to_npy(ids));
  detail::ZipWriter zip(detail::ZipWriter::Compression::none);
  zip.add("ids.npy", to_npy(ids));
  write_file(folder / "all.npz", zip.finish());
  for (const std::string& input : {"ids=" + npy, npy, folder / "all.npz"}) {
    const auto run = run_d5("net run " + model + " --input " + input);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains("float32 4x1") && Contains("[30, 10, 20, 30]"));
  }
  const std::string out = folder / "r.json", given = " --input ids=" + npy;
  CHECK(run_d5("net bench " + model + given + " --samples 2 --quiet --out " + out).status == 0);
  const Measurement timed = read_results(out).measurements.front();
  CHECK(timed.conditions.at("batch") == "4");
  CHECK_THAT(timed.command, Contains("--input ids=" + npy));
  CHECK(run_d5("net check " + model + given + " --against reference --quiet --out " + out).status ==
        0);
  CHECK_THAT(read_results(out).measurements.front().command, Contains("--input ids=" + npy));
  CHECK_THAT(run_d5("net show " + model + given).out, Contains("of one forward run --batch 4"));
  CHECK(run_d5("net show " + model + given + " --steps").status == 0);
  CHECK(run_d5("net show " + model + given + " --memory-plan").status == 0);
}

TEST_CASE("an input that does not fit ends a command with what would") {
  const TemporaryFolder folder;
  const std::string model = folder / "lookup.onnx", npy = folder / "ids.npy";
  write_lookup(model);
  write_file(npy, to_npy(Tensor::of<float>({2}, {1, 2})));
  for (const std::string command : {"net run ", "net show "}) {
    for (const auto& [input, message] :
         {std::pair{"ids=" + npy, std::string("astype(\"int64\")")},
          std::pair{"idx=" + npy, std::string("did you mean ids?")},
          std::pair{folder.path().string(), std::string("is a folder")},
          std::pair{"ids=" + npy + " --input ids=" + npy, std::string("given already")}}) {
      INFO(command << input);
      const auto run = run_d5(command + model + " --input " + input);
      CHECK(run.status == 2);
      CHECK_THAT(run.err, Contains(message));
    }
  }
}

TEST_CASE("sizes and values are the network's own without inputs, and a record has them") {
  const TemporaryFolder folder;
  const std::string model = folder / "down_and_up.onnx", out = folder / "r.json";
  testing::down_and_up({std::int64_t{1}, std::int64_t{1}, "height", "width"}).save(model);
  write_lookup(folder / "lookup.onnx");
  CHECK(run_d5("net run " + (folder / "lookup.onnx") + " --batch 64").status == 0);
  CHECK_THAT(run_d5("net run " + model).out, Contains("float32 1x1x2x2"));
  CHECK_THAT(run_d5("net show " + model).out, Contains("--dim height=2 --dim width=2"));
  CHECK(run_d5("net bench " + model + " --samples 2 --quiet --out " + out).status == 0);
  CHECK(read_results(out).measurements.front().conditions.at("sizes") == "height=2, width=2");
  const auto refused = run_d5("net run " + model + " --dim height=7");
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, Contains("Add 'sum'") && Contains("height must be a multiple of 2"));
  const auto way = refused.err.find("--dim height=");  // what it says works
  REQUIRE(way != refused.err.npos);
  const std::string option = refused.err.substr(way, refused.err.find_first_of(",\n", way) - way);
  CHECK(run_d5("net run " + model + " " + option).status == 0);
}

TEST_CASE("a run that fails on values of d5's making says what to give, and that works") {
  const TemporaryFolder folder;
  const std::string model = folder / "reshape.onnx", npy = folder / "shape.npy";
  Network network("reshape");
  network.add_input("x", DType::float32, {std::int64_t{6}});
  network.add_input("shape", DType::int64, {std::int64_t{2}});
  network.add_node("Reshape", {"x", "shape"}, {"y"}, {}, "reshape");
  network.add_output("y");
  network.save(model);
  for (const std::string command : {"net run ", "net bench --samples 2 ", "net check "}) {
    const auto run = run_d5(command + model);
    CHECK(run.status != 0);
    CHECK_THAT(run.out + run.err, Contains("made by d5") && Contains("--input shape=FILE.npy"));
    write_file(npy, to_npy(Tensor::vector<std::int64_t>({3, 2})));
    CHECK(run_d5(command + model + " --input shape=" + npy).status == 0);
  }
}

TEST_CASE("a shape that the model contradicts is a note, and fails nothing") {
  const TemporaryFolder folder;
  const std::string model = folder / "contradiction.onnx", out = folder / "r.json";
  write_contradiction(model);
  CHECK(run_d5("net run " + model + " --quiet --out " + out).status == 0);
  const auto conditions = read_results(out).measurements.front().conditions;
  CHECK(conditions.at("declared") == "y as float32 1xN, it is float32 1x1x1");
  CHECK(run_d5("net bench " + model + " --samples 2 --quiet --out " + out).status == 0);
  CHECK(read_results(out).measurements.front().conditions.contains("declared"));
}
