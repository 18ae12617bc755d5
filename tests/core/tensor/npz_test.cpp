// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/npz.hpp"

#include <catch2/catch.hpp>

#include "core/files/zip.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/tensor/npy.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// An archive of these files, in their order.
void write_archive(const std::string& path,
                   const std::vector<std::pair<std::string, std::string>>& files) {
  detail::ZipWriter zip(detail::ZipWriter::Compression::deflate);
  for (const auto& [name, bytes] : files) zip.add(name, bytes);
  write_file(path, zip.finish());
}

/// numpy.savez_compressed(..., **{"größe_入力": numpy.array([1, 2], numpy.int8)}), in hexadecimal
/// digits.
constexpr std::string_view kOfNumpy =
    "504b03042d000008080000002100ce25f8a6ffffffffffffffff120014006772c3b6c39f655fe585a5e58a9b2e6e"
    "707901001000820000000000000046000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e9369"
    "a8aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e462600"
    "504b01022d032d000008080000002100ce25f8a64600000082000000120000000000000000000000800100000000"
    "6772c3b6c39f655fe585a5e58a9b2e6e7079504b05060000000001000100400000008a0000000000";

std::string from_digits(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += char(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

}  // namespace

// This program runs in the locale "C", as all do that ask for no other.
TEST_CASE("an archive's arrays may have names beyond ASCII") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "names.npz", name = "größe_入力";
  SECTION("of NumPy") { write_file(path, from_digits(kOfNumpy)); }
  SECTION("of d5") {
    write_archive(path, {{name + ".npy", to_npy(Tensor::of<std::int8_t>({2}, {1, 2}))}});
  }
  const auto arrays = read_npz(path);
  REQUIRE(arrays.contains(name));
  CHECK(arrays.at(name).desc() == TensorDesc{DType::int8, {2}});
  CHECK(arrays.at(name).span<std::int8_t>()[1] == 2);
}

TEST_CASE("names of a zip that are not UTF-8 come as their bytes") {
  std::string bytes = from_digits(kOfNumpy);
  // In the file's own header, and in the directory at the end: no sign of UTF-8; "gr\x94...".
  for (const std::size_t flags : {7, 147}) bytes[flags] = 0;
  for (const std::size_t letter : {32, 186}) bytes[letter] = char(0x94);
  const auto members = detail::read_zip(bytes, "old.npz", 1 << 24, {});
  REQUIRE(members.size() == 1);
  CHECK(members[0].name.starts_with("gr"));
  CHECK(members[0].name.ends_with(".npy"));
}

TEST_CASE("an archive's arrays are read by name, and its other files passed over") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "two.npz";
  write_archive(path, {{"x.npy", to_npy(Tensor::of<float>({2}, {1, 2}))},
                       {"notes.txt", "of no interest"},
                       {"a/b.npy", to_npy(Tensor::of<std::int64_t>({1, 1}, {7}))}});
  const auto arrays = read_npz(path);
  REQUIRE(arrays.size() == 2);
  CHECK(arrays.at("x").span<float>()[1] == 2);
  CHECK(arrays.at("a/b").desc() == TensorDesc{DType::int64, {1, 1}});
}

TEST_CASE("a malformed archive of arrays is refused with the name of the array") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "bad.npz";
  const std::string array = to_npy(Tensor::of<float>({1}, {1}));
  write_file(path, "no zip");
  CHECK_THROWS_AS(read_npz(path), FormatError);
  write_archive(path, {{"x.npy", array}, {"x.npy", array}});
  CHECK_THROWS_WITH(read_npz(path), Contains("array 'x' twice"));
  write_archive(path, {{"x.npy", "\x93NUMPY"}});
  CHECK_THROWS_WITH(read_npz(path), Contains("bad.npz/x.npy"));
  // numpy.savez writes an array of objects as dtype '|O' and a pickle.
  std::string pickled = array;
  pickled.replace(pickled.find("<f4"), 3, "|O\'");
  write_archive(path, {{"x.npy", pickled}});
  CHECK_THROWS_AS(read_npz(path), Unsupported);
  CHECK_THROWS_WITH(read_npz(path), Contains("pickle"));
  CHECK_THROWS_AS(read_npz(folder / "none.npz"), IoError);
}
