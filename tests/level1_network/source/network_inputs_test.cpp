// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/network_inputs.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "core/files/zip.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/npy.hpp"
#include "d5/level1_network/execution/feed.hpp"
#include "d5/onnx/file.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// y = x + z over N rows of 2; nothing reads "spare".
Network sum() {
  Network network("sum");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_input("z", DType::float32, {"N", std::int64_t{2}});
  network.add_input("spare", DType::int64, {std::int64_t{3}});
  network.add_node("Add", {"x", "z"}, {"y"});
  network.add_output("y");
  return network;
}

Tensor rows(std::int64_t count) {
  return Tensor::of<float>({count, 2}, std::vector<float>(count * 2, 5));
}

std::string shape_of(const NetworkInputs& inputs, const std::string& name) {
  return to_string(inputs.values.at(name).tensor().shape());
}

/// Writes a test folder with one data set, whose only input has three rows.
std::string write_test_folder(const testing::TemporaryFolder& parent) {
  const std::string folder = parent / "sum";
  std::filesystem::create_directories(folder + "/test_data_set_0");
  sum().save(folder + "/model.onnx");
  write_file(folder + "/test_data_set_0/input_0.pb", onnx::serialize_value(Value(rows(3)), "x"));
  return folder;
}

void write_archive(const std::string& path, const std::map<std::string, Tensor>& arrays) {
  detail::ZipWriter zip(detail::ZipWriter::Compression::none);
  for (const auto& [name, tensor] : arrays) zip.add(name + ".npy", to_npy(tensor));
  write_file(path, zip.finish());
}

}  // namespace

TEST_CASE("a test folder brings its inputs, unless other sizes are asked for") {
  const testing::TemporaryFolder parent;
  const std::string folder = write_test_folder(parent);
  CHECK(brings_inputs(folder));
  CHECK_FALSE(brings_inputs(folder + "/model.onnx"));
  CHECK_FALSE(brings_inputs("lenet"));
  const NetworkInputs inputs = network_inputs(folder, sum());
  CHECK(shape_of(inputs, "x") == "3x2");
  CHECK(inputs.values.at("x").tensor().span<float>()[0] == 5);
  CHECK(shape_of(inputs, "z") == "3x2");  // what it brings binds what it leaves out
  CHECK(inputs.made == std::vector<std::string>{"z", "spare"});
  CHECK(inputs.sizes.batch == 3);
  CHECK(network_sizes(folder, sum()).by_name.at("N") == 3);
  CHECK(shape_of(network_inputs(folder, sum(), {.batch = 4}), "x") == "4x2");
}

TEST_CASE("inputs come from values, from files of each kind, and from archives by name") {
  const testing::TemporaryFolder folder;
  const std::string npy = folder / "x.npy", pb = folder / "x.pb", npz = folder / "both.npz";
  write_file(npy, to_npy(rows(2)));
  write_file(pb, onnx::serialize_value(Value(rows(2)), "x"));
  write_archive(npz, {{"x", rows(2)}, {"z", rows(2)}});
  for (const std::string& word : {"x=" + npy, "x=" + pb, npz}) {
    INFO(word);
    const NetworkInputs inputs = network_inputs("sum", sum(), {}, {.files = input_files({word})});
    CHECK(inputs.values.at("x").tensor().span<float>()[3] == 5);
    CHECK(shape_of(inputs, "z") == "2x2");
  }
  CHECK(network_inputs("sum", sum(), {}, {.values = {{"x", Value(rows(7))}}}).sizes.batch == 7);
  CHECK(to_line({.values = {}, .files = input_files({"x=" + npy, npz})}) ==
        " --input x=" + npy + " --input " + npz);
  // The only input needs no name.
  Network one("one");
  one.add_input("a", DType::float32, {"N", std::int64_t{2}});
  one.add_node("Relu", {"a"}, {"b"});
  one.add_output("b");
  CHECK(shape_of(network_inputs("one", one, {}, {.files = input_files({npy})}), "a") == "2x2");
}

TEST_CASE("an input that does not fit is refused, with its file and a way out") {
  const testing::TemporaryFolder folder;
  const auto refusal = [&](const std::string& word, const OpenSizes& sizes = {}) {
    (void)network_inputs("sum", sum(), sizes, {.files = input_files({word})});
  };
  const std::string file = folder / "v.npy";
  const auto holding = [&](const Tensor& tensor) { write_file(file, to_npy(tensor)); };
  holding(rows(2));
  CHECK_THROWS_AS(refusal("w=" + file), NotFound);
  CHECK_THROWS_WITH(refusal("w=" + file), Contains("known: x, z, spare"));
  CHECK_THROWS_AS(refusal(file), ValueError);
  CHECK_THROWS_WITH(refusal(file), Contains("for which input?") && Contains("NAME="));
  CHECK_THROWS_AS(refusal("x=" + file, {.by_name = {{"N", 4}}}), ValueError);
  CHECK_THROWS_WITH(refusal("x=" + file, {.by_name = {{"N", 4}}}),
                    Contains("it is 2 in input 'x'"));
  CHECK_THROWS_WITH(refusal("x=" + file, {.batch = 4}), Contains("batch=4"));
  holding(Tensor::of<double>({1, 2}, {1, 2}));
  CHECK_THROWS_AS(refusal("x=" + file), TypeError);
  CHECK_THROWS_WITH(refusal("x=" + file), Contains(file) && Contains("astype(\"float32\")"));
  holding(Tensor::of<float>({2}, {1, 2}));
  CHECK_THROWS_AS(refusal("x=" + file), ShapeError);
  CHECK_THROWS_WITH(refusal("x=" + file), Contains("of rank 1 where 2 is expected"));
  holding(Tensor::of<float>({1, 3}, {1, 2, 3}));
  CHECK_THROWS_AS(refusal("x=" + file), ShapeError);
  CHECK_THROWS_WITH(refusal("x=" + file), Contains("size 3 at axis 1 where 2 is expected"));
  write_archive(folder / "a.npz", {{"q", rows(1)}});
  CHECK_THROWS_AS(refusal(folder / "a.npz"), NotFound);
  CHECK_THROWS_WITH(refusal(folder / "a.npz"), Contains("a.npz") && Contains("'q' is unknown"));
  CHECK_THROWS_AS(refusal(folder / "none.npy"), Error);
}

TEST_CASE("names and paths of inputs may hold '='") {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "run=1");
  const std::string odd = folder / "run=1/v=2.npy", plain = folder / "v.npy";
  for (const std::string& file : {odd, plain}) write_file(file, to_npy(rows(2)));
  const auto read = [](const std::string& word) {
    const ValueFile file = input_files({word}).front();
    return std::pair(file.name, file.path);
  };
  CHECK(read("x=" + odd) == std::pair(std::string("x"), odd));
  CHECK(read("x=1=" + odd) == std::pair(std::string("x=1"), odd));
  CHECK(read("x=1=" + plain) == std::pair(std::string("x=1"), plain));
  CHECK(read(odd) == std::pair(std::string(), odd));
  // Without such a file, splits at the last sign.
  CHECK(read("x=1=none.npy") == std::pair(std::string("x=1"), std::string("none.npy")));
  const auto written = [&](const std::string& word) {
    const ValueFile file = value_files({word}, "--output").front();
    return std::pair(file.name, file.path);
  };
  CHECK(written("y=1=new.npy") == std::pair(std::string("y=1"), std::string("new.npy")));
  CHECK(written("y=" + folder / "run=1/new.npy") ==
        std::pair(std::string("y"), std::string(folder / "run=1/new.npy")));
}

TEST_CASE("words of inputs are files, each input's once") {
  const testing::TemporaryFolder folder;
  CHECK_THROWS_AS(input_files({"x.txt"}), ValueError);
  CHECK_THROWS_WITH(input_files({"x.txt"}), Contains("NAME=FILE.npy"));
  CHECK_THROWS_AS(input_files({"x=a.npz"}), ValueError);
  CHECK_THROWS_AS(input_files({"x=a.npy", "x=b.npy"}), ValueError);
  CHECK_THROWS_WITH(input_files({"x=a.npy", "x=b.npy"}), Contains("'x' is given already"));
  CHECK_THROWS_AS(input_files({folder.path().string()}), IoError);
  CHECK_THROWS_WITH(input_files({"x=" + folder.path().string()}), Contains("is a folder"));
  // A name may stand in an archive and in a word.
  write_archive(folder / "a.npz", {{"x", rows(1)}});
  write_file(folder / "x.npy", to_npy(rows(1)));
  const GivenInputs twice{.files = input_files({"x=" + (folder / "x.npy"), folder / "a.npz"})};
  CHECK_THROWS_AS(network_inputs("sum", sum(), {}, twice), ValueError);
  const GivenInputs differ{.values = {{"x", Value(rows(1))}, {"z", Value(rows(2))}}};
  CHECK_THROWS_AS(network_inputs("sum", sum(), {}, differ), ShapeError);
}

TEST_CASE("an input that nothing reads may be left out, another that cannot be made may not") {
  Network network = sum();
  CHECK_NOTHROW(check_fed(network, {{"x", Value(rows(1))}, {"z", Value(rows(1))}}));
  CHECK_THROWS_AS(check_fed(network, {{"x", Value(rows(1))}}), NotFound);
  onnx::Model model = sum().model();
  onnx::Type sequence;
  sequence.kind = ValueKind::sequence;
  model.graph.inputs[2].type = sequence;
  CHECK(network_inputs("sum", Network(model)).values.size() == 2);
  model.graph.inputs[0].type = sequence;
  CHECK_THROWS_AS(network_inputs("sum", Network(model)), Unsupported);
  CHECK_THROWS_WITH(network_inputs("sum", Network(model)), Contains("inputs={'x': FILE.pb}"));
}

TEST_CASE("a run that fails on values made by d5 says so") {
  const NetworkInputs made = network_inputs("sum", sum());
  const auto fail = [] { throw ValueError("Gather: index 9 is outside"); };
  CHECK_THROWS_AS(with_advice(made, fail), ValueError);
  CHECK_THROWS_WITH(with_advice(made, fail), Contains("index 9") && Contains("made by d5") &&
                                                 Contains("inputs={'x': FILE.npy}"));
  NetworkInputs given = made;
  given.made.clear();
  CHECK_THROWS_WITH(with_advice(given, fail), "Gather: index 9 is outside");
}
