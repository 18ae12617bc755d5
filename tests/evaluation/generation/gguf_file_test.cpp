// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/gguf_file.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/evaluation/generation/gguf_writer.hpp"

using namespace d5;
using detail::GgufFile;
using testing::GgufWriter;
using testing::raw_bytes;
using testing::raw_half;
using testing::raw_text;

namespace {

constexpr std::uint32_t kF16 = 1, kQ4_0 = 2, kQ4_1 = 3, kQ8_0 = 8;

std::vector<float> read_from(const std::string& bytes, const std::string& name,
                             const Shape& shape) {
  std::vector<float> numbers(std::size_t(shape.elements()));
  GgufFile(bytes, "'test'").read(name, shape, numbers);
  return numbers;
}

/// Bytes of nibbles: number i in the low half of byte i, number i + 16 in the high half.
std::string nibbles(int (*number)(int)) {
  std::string bytes;
  for (int i = 0; i < 16; ++i) bytes += char(number(i) | number(i + 16) << 4);
  return bytes;
}

/// A file with one F32 tensor "x" of `sizes` at `offset`, and 64 bytes of data.
std::string lying_file(const std::vector<std::uint64_t>& sizes, std::uint64_t offset,
                       std::uint32_t type = 0) {
  std::string bytes = "GGUF" + raw_bytes(std::uint32_t(3)) + raw_bytes(std::uint64_t(1)) +
                      raw_bytes(std::uint64_t(0)) + raw_text("x") +
                      raw_bytes(std::uint32_t(sizes.size()));
  for (const std::uint64_t size : sizes) bytes += raw_bytes(size);
  bytes += raw_bytes(type) + raw_bytes(offset);
  bytes.resize((bytes.size() + 31) / 32 * 32);
  return bytes + std::string(64, '\0');
}

}  // namespace

TEST_CASE("numbers of every type of weights are those that ggml's formulas give") {
  GgufWriter writer;
  writer.add_floats("f32", {3}, {1, -2.5F, 3});
  writer.add_tensor("f16", {2}, kF16, raw_half(0.5F) + raw_half(-2));
  std::string q8 = raw_half(0.25F);
  for (int i = 0; i < 32; ++i) q8 += char(i - 16);
  writer.add_tensor("q8_0", {32}, kQ8_0, q8);
  writer.add_tensor("q4_0", {32}, kQ4_0, raw_half(2) + nibbles([](int i) { return i % 16; }));
  writer.add_tensor("q4_1", {32}, kQ4_1,
                    raw_half(0.5F) + raw_half(-3) + nibbles([](int i) { return (i * 7) % 16; }));
  const std::string bytes = writer.file();
  CHECK(read_from(bytes, "f32", {3}) == std::vector<float>{1, -2.5F, 3});
  CHECK(read_from(bytes, "f16", {2}) == std::vector<float>{0.5F, -2});
  const auto of_q8 = read_from(bytes, "q8_0", {32});
  const auto of_q4_0 = read_from(bytes, "q4_0", {32});
  const auto of_q4_1 = read_from(bytes, "q4_1", {32});
  for (int i = 0; i < 32; ++i) {
    CHECK(of_q8[std::size_t(i)] == 0.25F * float(i - 16));
    CHECK(of_q4_0[std::size_t(i)] == 2.0F * float(i % 16 - 8));
    CHECK(of_q4_1[std::size_t(i)] == 0.5F * float((i * 7) % 16) - 3);
  }
}

TEST_CASE("metadata has the types and ranges that are asked for") {
  GgufWriter writer;
  writer.set("count", std::uint32_t(7));
  writer.set("share", 0.5F);
  writer.set("yes", true);
  writer.set("name", "llama");
  writer.set("words", std::vector<std::string>{"a", "", "b c"});
  writer.set("kinds", std::vector<std::int32_t>{3, -1});
  const std::string bytes = writer.file();
  const GgufFile file(bytes, "'test'");
  CHECK(file.natural("count", 0, 7) == 7);
  CHECK(file.real("share") == 0.5);
  CHECK(file.flag("yes"));
  CHECK(file.text("name") == "llama");
  CHECK(file.texts("words") == GgufFile::Texts{"a", "", "b c"});
  CHECK(file.naturals("kinds") == GgufFile::Naturals{3, -1});
  CHECK_THROWS_WITH(file.natural("count", 0, 6), Catch::Contains("'test': count is 7"));
  CHECK_THROWS_WITH(file.text("count"), Catch::Contains("expected a text"));
  CHECK_THROWS_WITH(file.text("none"), Catch::Contains("missing"));
  CHECK_THROWS_AS(file.expect_tensor("x", {1}), FormatError);
}

TEST_CASE("a file that lies about sizes, places and types is refused before memory is taken") {
  constexpr auto kHuge = std::numeric_limits<std::uint64_t>::max();
  const auto open = [](const std::string& bytes) { GgufFile(bytes, "'test'"); };
  CHECK_NOTHROW(open(lying_file({16}, 0)));
  CHECK_THROWS_AS(open(lying_file({17}, 0)), FormatError);
  CHECK_THROWS_AS(open(lying_file({16}, 32)), FormatError);
  CHECK_THROWS_AS(open(lying_file({4}, 8)), FormatError);  // not aligned
  CHECK_THROWS_AS(open(lying_file({4}, kHuge - 31)), FormatError);
  CHECK_THROWS_AS(open(lying_file({0}, 0)), FormatError);
  CHECK_THROWS_AS(open(lying_file({kHuge}, 0)), FormatError);
  CHECK_THROWS_AS(open(lying_file({std::uint64_t(1) << 32, std::uint64_t(1) << 32}, 0)),
                  FormatError);
  CHECK_THROWS_AS(open(lying_file({1, 1, 1, 1, 1}, 0)), FormatError);
  CHECK_THROWS_AS(open(lying_file({}, 0)), FormatError);
  CHECK_THROWS_AS(open(lying_file({33}, 0, kQ8_0)), FormatError);  // half a block
  CHECK_THROWS_WITH(open(lying_file({32}, 0, 12)), Catch::Contains("type 12"));
  CHECK_THROWS_AS(open("GGUF"), FormatError);
  CHECK_THROWS_AS(open("GGML" + std::string(64, '\0')), FormatError);
  CHECK_THROWS_AS(open("GGUF" + raw_bytes(std::uint32_t(4)) + std::string(64, '\0')), Unsupported);
  const std::string head = "GGUF" + raw_bytes(std::uint32_t(3));
  CHECK_THROWS_AS(open(head + raw_bytes(kHuge) + raw_bytes(std::uint64_t(0))), FormatError);
  CHECK_THROWS_AS(open(head + raw_bytes(std::uint64_t(0)) + raw_bytes(kHuge)), FormatError);
  const std::string entry = head + raw_bytes(std::uint64_t(0)) + raw_bytes(std::uint64_t(1));
  CHECK_THROWS_AS(open(entry + raw_bytes(kHuge) + "key"), FormatError);
  CHECK_THROWS_AS(open(entry + raw_text("key") + raw_bytes(std::uint32_t(13)) + "12345678"),
                  FormatError);
  const std::string list = entry + raw_text("key") + raw_bytes(std::uint32_t(9));
  CHECK_THROWS_AS(open(list + raw_bytes(std::uint32_t(8)) + raw_bytes(kHuge)), FormatError);
  CHECK_THROWS_AS(open(list + raw_bytes(std::uint32_t(9)) + raw_bytes(std::uint64_t(1)) +
                       std::string(16, '\0')),
                  FormatError);  // a list of lists
}

TEST_CASE("tensors that overlap, and names that stand there twice, are refused") {
  GgufWriter writer;
  writer.add_floats("x", {8}, std::vector<float>(8, 1.0F));
  writer.add_floats("x", {8}, std::vector<float>(8, 1.0F));
  CHECK_THROWS_WITH(GgufFile(writer.file(), "'test'"), Catch::Contains("twice"));
  GgufWriter others;
  others.add_floats("x", {8}, std::vector<float>(8, 1.0F));
  others.add_floats("y", {8}, std::vector<float>(8, 1.0F));
  std::string bytes = others.file();
  const std::size_t place = bytes.find(raw_bytes(std::uint64_t(32)), bytes.find('y'));
  REQUIRE(place != std::string::npos);
  bytes.replace(place, 8, raw_bytes(std::uint64_t(0)));
  CHECK_THROWS_WITH(GgufFile(bytes, "'test'"), Catch::Contains("lies at 0"));
}

TEST_CASE("every file that is cut off is refused") {
  GgufWriter writer;
  writer.set("words", std::vector<std::string>{"a", "bc"});
  writer.add_floats("x", {8}, std::vector<float>(8, 1.0F));
  const std::string whole = writer.file();
  CHECK_NOTHROW(GgufFile(whole, "'test'"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_THROWS_AS(GgufFile(std::string_view(whole).substr(0, length), "'test'"), FormatError);
  }
}
