// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/safetensors_weights.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/evaluation/generation/safetensors_writer.hpp"

using namespace d5;
using detail::SafetensorsWeights;
using testing::SafetensorsWriter;

namespace {

SafetensorsWriter small_file() {
  SafetensorsWriter writer;
  writer.add_floats("x", {2, 2}, std::vector<float>{1, -2.5F, 3, 1e-3F});
  writer.add_floats("y", {3}, std::vector<float>{4, 5, 6});
  return writer;
}

void open_weights(const std::string& bytes) { SafetensorsWeights().add(bytes, "'test'"); }

/// The small file with one value of the header replaced.
std::string lying(const char* tensor, const char* field, const nlohmann::json& value) {
  SafetensorsWriter writer = small_file();
  writer.header[tensor][field] = value;
  return writer.file();
}

std::vector<float> read_tensor(const std::string& bytes, const std::string& name,
                               const Shape& shape) {
  SafetensorsWeights weights;
  weights.add(bytes, "'test'");
  std::vector<float> numbers(std::size_t(shape.elements()));
  weights.read(name, shape, numbers);
  return numbers;
}

}  // namespace

TEST_CASE("numbers of every type of weights become float32") {
  SafetensorsWriter writer;
  writer.add("byte", "U8", {1}, "b");  // what follows is not aligned
  writer.add("f16", "F16", {2}, {"\x00\x38\x00\xc0", 4});
  writer.add("bf16", "BF16", {2}, {"\xc0\x3f\x49\xc0", 4});
  writer.add("f32", "F32", {1}, {"\x00\x00\x20\xc0", 4});
  const std::string bytes = writer.file();
  CHECK(read_tensor(bytes, "f16", {2}) == std::vector<float>{0.5F, -2});
  CHECK(read_tensor(bytes, "bf16", {2}) == std::vector<float>{1.5F, -3.140625F});
  CHECK(read_tensor(bytes, "f32", {1}) == std::vector<float>{-2.5F});
  CHECK_THROWS_WITH(read_tensor(bytes, "byte", {1}), Catch::Contains("'byte' is uint8"));
  CHECK_THROWS_WITH(read_tensor(bytes, "f16", {1, 2}), Catch::Contains("'f16' is 2, expected 1x2"));
  CHECK_THROWS_WITH(read_tensor(bytes, "none", {1}), Catch::Contains("'none' is missing"));
}

TEST_CASE("a header that lies is refused before memory is taken") {
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();
  CHECK_NOTHROW(open_weights(small_file().file()));
  CHECK_THROWS_AS(open_weights(lying("x", "shape", {2, 3})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("x", "shape", {-2, -2})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("x", "shape", {kHuge, kHuge})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("x", "shape", {1ULL << 62, 1ULL << 62})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("x", "shape", {2.0, 2.0})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("x", "shape", nullptr)), FormatError);
  CHECK_THROWS_AS(open_weights(lying("x", "dtype", "F33")), FormatError);
  CHECK_THROWS_AS(open_weights(lying("x", "dtype", "F64")), FormatError);
  CHECK_THROWS_AS(open_weights(lying("y", "data_offsets", {16, 29})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("y", "data_offsets", {28, 16})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("y", "data_offsets", {-12, 0})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("y", "data_offsets", {1e300, 1e300})), FormatError);
  CHECK_THROWS_AS(open_weights(lying("y", "data_offsets", {kHuge - 11, kHuge})), FormatError);
  const std::string length(8, '\xff');
  CHECK_THROWS_AS(open_weights(length + small_file().file().substr(8)), FormatError);
  CHECK_THROWS_AS(open_weights(std::string(8, '\0')), FormatError);
}

TEST_CASE("tensors that overlap, leave a gap or do not reach the end are refused") {
  CHECK_THROWS_WITH(open_weights(lying("y", "data_offsets", {4, 16})),
                    Catch::Contains("'y' begins at byte 4, expected 16"));
  SafetensorsWriter gap = small_file();
  gap.header.erase("x");
  CHECK_THROWS_WITH(open_weights(gap.file()), Catch::Contains("begins at byte 16, expected 0"));
  SafetensorsWriter longer = small_file();
  longer.data += "more";
  CHECK_THROWS_WITH(open_weights(longer.file()), Catch::Contains("byte 28 of 32"));
}

TEST_CASE("a tensor of two files is refused") {
  const std::string bytes = small_file().file();
  SafetensorsWeights weights;
  weights.add(bytes, "'first'");
  CHECK_THROWS_WITH(weights.add(bytes, "'second'"),
                    Catch::Contains("'second': tensor 'x' is in 'first', too"));
}

TEST_CASE("every file of weights that is cut off is refused") {
  const std::string whole = small_file().file();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_THROWS_AS(open_weights(whole.substr(0, length)), FormatError);
  }
}

TEST_CASE("a file with any bit flipped is refused, or read to its end") {
  const std::string whole = small_file().file();
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << bit % 8));
    SafetensorsWeights weights;
    try {
      weights.add(bytes, "'test'");
    } catch (const FormatError&) {
      ++refused;
      continue;
    }
    for (const std::string_view name : weights.tensor_names()) {
      const Shape shape = name == "x" ? Shape{2, 2} : Shape{3};
      std::vector<float> numbers(std::size_t(shape.elements()));
      try {
        weights.read(name, shape, numbers);
      } catch (const Error&) {  // a shape or a type that fits the bytes, too
      }
    }
  }
  CHECK(refused > 0);
  CHECK(refused < 8 * whole.size());
}
