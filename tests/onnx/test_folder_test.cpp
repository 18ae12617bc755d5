// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/file.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::onnx {
namespace {

namespace fs = std::filesystem;

/// A folder of empty files.
class Folder : public d5::testing::TemporaryFolder {
 public:
  explicit Folder(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      fs::create_directories((path() / file).parent_path());
      std::ofstream(path() / file) << "";
    }
  }
};

TEST_CASE("data sets and their files come in the order of their numbers") {
  std::vector<std::string> files = {"model.onnx", "notes.txt", "test_data_set_10/input_0.pb",
                                    "test_data_set_2/output_0.pb", "test_data_set_x/input_0.pb"};
  for (int i = 0; i < 12; ++i) {
    files.push_back("test_data_set_2/input_" + std::to_string(i) + ".pb");
  }
  const Folder folder(files);
  const TestFolder found = open_test_folder(folder.path());
  CHECK(found.model_path == folder / "model.onnx");
  REQUIRE(found.data_sets.size() == 2);
  CHECK(fs::path(found.data_sets[0].path).filename() == "test_data_set_2");
  REQUIRE(found.data_sets[0].inputs.size() == 12);
  CHECK(fs::path(found.data_sets[0].inputs[2]).filename() == "input_2.pb");
  CHECK(fs::path(found.data_sets[0].inputs[11]).filename() == "input_11.pb");
  CHECK(found.data_sets[0].outputs.size() == 1);
  CHECK(found.data_sets[1].outputs.empty());
}

TEST_CASE("a missing file between others is not passed over") {
  const Folder folder({"model.onnx", "test_data_set_0/input_0.pb", "test_data_set_0/input_2.pb"});
  CHECK_THROWS_AS(open_test_folder(folder.path()), FormatError);
}

TEST_CASE("a folder may state its tolerance; otherwise it is that of ONNX's runner") {
  const Folder folder({"model.onnx"});
  const TestFolder without = open_test_folder(folder.path());
  CHECK(without.relative == 1e-3);
  CHECK(without.absolute == 1e-7);
  std::ofstream(folder / "tolerance.txt") << "rtol 0.01\natol 1e-05\n";
  const TestFolder with = open_test_folder(folder.path());
  CHECK(with.relative == 0.01);
  CHECK(with.absolute == 1e-5);
  std::ofstream(folder / "tolerance.txt") << "rtol much\n";
  CHECK_THROWS_AS(open_test_folder(folder.path()), FormatError);
}

TEST_CASE("a malformed test folder is refused") {
  const Folder folder({"other.onnx"});
  CHECK_THROWS_AS(open_test_folder(folder.path()), IoError);
  CHECK_THROWS_AS(open_test_folder(folder / "other.onnx"), IoError);
  CHECK_THROWS_AS(open_test_folder(folder / "nowhere"), IoError);
}

TEST_CASE("uint16 is bfloat16 where the model says so") {
  const std::string bytes = serialize_value(Tensor::of<std::uint16_t>({2}, {0x3f80, 0xc040}), "x");
  const auto parse = [&](DType dtype) {
    Type type;
    type.kind = ValueKind::tensor;
    type.dtype = dtype;
    return parse_value(std::as_bytes(std::span(bytes)), type, "x.pb").tensor();
  };
  const Tensor small = parse(DType::bfloat16);
  REQUIRE(small.dtype() == DType::bfloat16);
  CHECK(float(small.data<BFloat16>()[0]) == 1);
  CHECK(float(small.data<BFloat16>()[1]) == -3);
  CHECK(parse(DType::uint16).dtype() == DType::uint16);
}

}  // namespace
}  // namespace d5::onnx
