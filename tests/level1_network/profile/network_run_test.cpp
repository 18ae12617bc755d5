// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/network_run.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/npy.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// y = relu(x), of any number of rows, which is called `rows`.
void save_rectifier(const std::string& path, const std::string& rows = "N") {
  Network network("rectifier");
  network.add_input("x", DType::float32, {rows, std::int64_t{2}});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  network.save(path);
}

}  // namespace

TEST_CASE("a network answers on values, on files of values, and writes what it answered") {
  const testing::TemporaryFolder folder;
  const std::string model = folder / "rectifier.onnx", x = folder / "x.npy", y = folder / "y.npy";
  save_rectifier(model);
  const Tensor value = Tensor::of<float>({1, 2}, {-1, 3});
  write_file(x, to_npy(value));
  std::vector<float> answered;
  const auto on_run = [&](const Measurement&, const ValueMap& outputs) {
    const auto row = outputs.at("y").tensor().span<float>();
    answered.insert(answered.end(), row.begin(), row.end());
  };
  const auto records =
      run_networks({model}, {.inputs = {.values = {{"x", Value(value)}}}, .on_run = on_run});
  REQUIRE(records.size() == 1);
  CHECK(records.front().metric == "time");
  CHECK(records.front().status == Status::mistrusted);  // one run
  (void)run_networks({model}, {.inputs = {.files = input_files({"x=" + x})},
                               .output_files = value_files({"y=" + y}, "output"),
                               .on_run = on_run});
  CHECK(answered == std::vector<float>{0, 3, 0, 3});
  CHECK(read_npy(y).span<float>()[1] == 3);
}

TEST_CASE(
    "each of several models takes the sizes that it has, and a size that none has is refused") {
  const testing::TemporaryFolder folder;
  const std::vector<std::string> models{folder / "lines.onnx", folder / "words.onnx"};
  save_rectifier(models[0], "L");
  save_rectifier(models[1], "T");
  std::vector<std::int64_t> rows;
  const auto on_run = [&](const Measurement&, const ValueMap& outputs) {
    if (!outputs.empty()) rows.push_back(outputs.at("y").tensor().shape()[0]);
  };
  const auto records = run_networks(models, {.sizes = open_sizes({"T=5"}), .on_run = on_run});
  CHECK(rows == std::vector<std::int64_t>{1, 5});
  CHECK_THAT(records.at(0).command, !Contains("T=5"));
  CHECK_THAT(records.at(1).command, Contains("T=5"));
  CHECK_THROWS_AS(run_networks(models, {.sizes = open_sizes({"W=5"})}), NotFound);
  CHECK_THROWS_AS(run_networks({models[0]}, {.sizes = open_sizes({"T=5"})}), NotFound);
}

TEST_CASE("one of several runs that fails is a failed record; what cannot be written is refused") {
  const testing::TemporaryFolder folder;
  save_rectifier(folder / "rectifier.onnx");
  const std::vector<std::string> models{folder / "rectifier.onnx", "lenet"};
  int failed = 0;
  const auto records =
      run_networks(models, {.inputs = {.values = {{"x", Value(Tensor::of<float>({1, 2}, {1, 2}))}}},
                            .on_run = [&](const Measurement& record, const ValueMap& outputs) {
                              failed += record.status == Status::failed && outputs.empty();
                            }});
  REQUIRE(records.size() == 2);
  CHECK(records[1].status == Status::failed);  // it has no input x
  CHECK(failed == 1);
  const auto file = value_files({"y=" + (folder / "y.npy")}, "output");
  CHECK_THROWS_WITH(run_networks(models, {.output_files = file}), Contains("2 runs"));
  CHECK_THROWS_AS(run_networks({"lenet"}, {.output_files = {{"y", "/no/such/folder/y.npy"}}}),
                  IoError);
  CHECK_THROWS_WITH(value_files({"x=x.txt"}, "input"), Contains("input 'x=x.txt'"));
}
