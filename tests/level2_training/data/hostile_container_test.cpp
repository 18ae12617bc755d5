// SPDX-License-Identifier: Apache-2.0
// Files of samples that are cut, damaged or lie.
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/data/container.hpp"
#include "d5/level2_training/data/tensor_dataset.hpp"
#include "level2_training/data/storage/crc32c.hpp"
#include "level2_training/data/storage/little_endian.hpp"
#include "level2_training/data/storage/record_file.hpp"
#include "level2_training/data/storage/tar.hpp"
#include "tests/level2_training/mixed_samples.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// Opens a file of those bytes in memory alone and reads all of it.
void read_all(const std::string& container, const std::string& bytes,
              const Settings& settings = {}) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "a";
  std::ofstream(path, std::ios::binary) << bytes;  // not flushed to the disk: there are thousands
  const auto data = containers().at(container).make(settings)->open({path}, {});
  std::vector<Tensor> sample = empty_batch(*data, 1);
  for (std::int64_t i = 0; i < data->size(); ++i) data->read(std::span(&i, 1), {}, sample);
}

std::string written(const std::string& container) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / ("a." + containers().at(container).make()->extension());
  convert(test::MixedSamples(3), container, path);
  return read_file(path);
}

/// A tar header whose size says what it likes.
std::string tar_of(std::string size, const std::string& name = "a.cls",
                   const std::string& data = "") {
  std::string block = detail::tar_header(name, 0);
  block.replace(124, 12, size += std::string(12 - size.size(), '\0'));
  block.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char byte : block) sum += std::uint8_t(byte);
  block.replace(148, 6, fmt::format("{:06o}", sum));
  return block + data + detail::tar_padding(data.size()) + std::string(1024, '\0');
}

std::string npy_of(const std::string& dictionary, const std::string& values = "") {
  return std::string("\x93NUMPY\x01\x00", 8) + char(dictionary.size()) + '\0' + dictionary + values;
}

}  // namespace

TEST_CASE("CRC-32C is that of RFC 3720, and masked that of TFRecord") {
  CHECK(detail::crc32c("123456789") == 0xe3069283u);            // the check value of its catalogue
  CHECK(detail::crc32c(std::string(32, '\0')) == 0x8a9136aau);  // RFC 3720, B.4
  CHECK(detail::crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  CHECK(detail::crc32c("") == 0);
}

TEST_CASE("a file that is cut anywhere is refused") {
  for (const char* container : {"raw", "tar", "tfrecord", "npz"}) {
    const std::string bytes = written(container);
    REQUIRE_NOTHROW(read_all(container, bytes));
    const std::string name = container;
    for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 97) {
      CAPTURE(container, length);
      // The last block of zeros of a tar archive is one too many, and a file without records has
      // none.
      if (name == "tar" && length + 512 >= bytes.size()) continue;
      CHECK_THROWS_AS(read_all(container, bytes.substr(0, length)), Error);
    }
  }
}

TEST_CASE("each flipped bit of a TFRecord file is found") {
  const std::string bytes = written("tfrecord");
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 5) {
    std::string broken = bytes;
    broken[bit / 8] = char(broken[bit / 8] ^ (1 << bit % 8));
    CAPTURE(bit);
    CHECK_THROWS_AS(read_all("tfrecord", broken), Error);
  }
}

TEST_CASE("a flipped bit of a sample in an archive with an index is found, and its place told") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "a.tar";
  convert(TensorDataset("x", {{"x", Tensor::vector<std::uint8_t>({1, 2, 3})}}), "tar", path);
  std::string bytes = read_file(path);
  const std::size_t place = bytes.find("\x93NUMPY", bytes.find("\x93NUMPY") + 1) + 128;
  REQUIRE(bytes[place] == 2);
  bytes[place] = 6;
  write_file(path, bytes);
  const auto data = open_container("tar", path);
  std::vector<Tensor> sample = empty_batch(*data, 1);
  const std::vector<std::int64_t> first{0}, second{1};
  CHECK_NOTHROW(data->read(first, {}, sample));
  CHECK_THROWS_AS(data->read(second, {}, sample), FormatError);
  CHECK_THROWS_WITH(data->read(second, {}, sample),
                    Contains("sample 1") && Contains("CRC-32C") && Contains(path));
}

TEST_CASE("an index of another file is refused") {
  for (const char* container : {"tar", "tfrecord"}) {
    CAPTURE(container);
    const testing::TemporaryFolder folder;
    const std::string a = folder / (std::string("a.") + container);
    const std::string b = folder / (std::string("b.") + container);
    convert(test::MixedSamples(3), container, a);
    convert(test::MixedSamples(4), container, b);
    std::filesystem::copy_file(b + ".index", a + ".index",
                               std::filesystem::copy_options::overwrite_existing);
    CHECK_THROWS_AS(open_container(container, a), FormatError);
    CHECK_THROWS_WITH(open_container(container, a), Contains("of another file"));
    CHECK_NOTHROW(open_container(container, a, {{"index", "memory"}}));
    const std::string index = read_file(b + ".index");
    for (std::size_t i = 0; i < index.size(); i += 3) {
      std::string broken = index;
      broken[i] = char(broken[i] ^ 4);
      std::ofstream(b + ".index", std::ios::binary) << broken;
      try {
        const auto data = open_container(container, b);
        std::vector<Tensor> sample = empty_batch(*data, 1);
        for (std::int64_t k = 0; k < data->size(); ++k) data->read(std::span(&k, 1), {}, sample);
      } catch (const Error&) {
        continue;  // or it was a word that nobody reads, or a field's name
      }
    }
  }
}

TEST_CASE("records that lie are refused") {
  const auto with_length = [](std::uint64_t length) {
    const std::string bytes = detail::to_little_endian(length);
    return bytes + detail::to_little_endian(detail::masked_crc32c(bytes));
  };
  for (const std::uint64_t length :
       {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{5}, ~std::uint64_t{0} - 15}) {
    CAPTURE(length);
    CHECK_THROWS_WITH(read_all("tfrecord", with_length(length) + "1234"),
                      Contains("byte 0") && Contains("truncated"));
  }
  CHECK_THROWS_WITH(read_all("tfrecord", std::string(100, 'a')), Contains("CRC-32C"));
  CHECK_THROWS_WITH(read_all("tfrecord", detail::framed_record("\x0a\x7f")),
                    Contains("127 bytes, but 0 follow"));
  CHECK_THROWS_AS(read_all("tfrecord", detail::framed_record("\xff\xff\xff\xff\xff\xff")),
                  FormatError);
  CHECK_THROWS_AS(read_all("tfrecord", "\x1f\x8b\x08nonsense"), FormatError);
}

TEST_CASE("archives that lie are refused") {
  CHECK_THROWS_WITH(read_all("tar", tar_of("77777777777")), Contains("8589934591 bytes"));
  CHECK_THROWS_AS(read_all("tar", tar_of(std::string("\x80\x7f", 2) + std::string(10, '\xff'))),
                  FormatError);
  CHECK_THROWS_AS(read_all("tar", tar_of("-1")), FormatError);
  CHECK_THROWS_WITH(read_all("tar", tar_of("0", "../a.cls")), Contains("leads out"));
  CHECK_THROWS_WITH(read_all("tar", tar_of("0", "x/../../a.cls")), Contains("leads out"));
  CHECK_THROWS_WITH(read_all("tar", tar_of("0", "/etc/a.cls")), Contains("leads out"));
  CHECK_THROWS_WITH(read_all("tar", tar_of("1", "a.cls", "x")), Contains("expected an integer"));
  CHECK_THROWS_WITH(read_all("tar", tar_of("1", "a.npy", "x")), Contains("not a .npy file"));
  CHECK_THROWS_WITH(read_all("tar", tar_of("0", "nothing")), Contains("no sample"));
  CHECK_THROWS_WITH(read_all("tar", std::string(2000, 'a')), Contains("checksum"));
  const std::string one = detail::tar_header("a.txt", 0), end(1024, '\0');
  CHECK_THROWS_WITH(read_all("tar", one + one + end), Contains("twice"));
  CHECK_THROWS_WITH(read_all("tar", one + detail::tar_header("b.cls", 0) + end),
                    Contains("fields=..."));
  CHECK_THROWS_WITH(
      read_all("tar", one + detail::tar_header("b.cls", 0) + detail::tar_header("b.txt", 0) + end),
      Contains("fields=txt"));
  CHECK_NOTHROW(
      read_all("tar", one + detail::tar_header("b.cls", 0) + detail::tar_header("b.txt", 0) + end,
               {{"fields", "txt"}}));
  const std::string huge = R"([{"name":"x","dtype":"uint8","shape":[4611686018427387904]}])";
  CHECK_THROWS_AS(read_all("tar", detail::tar_global_header("D5.fields", huge) +
                                      detail::tar_header("a.x.npy", 0) + end),
                  Error);
}

TEST_CASE("arrays that lie are refused before anything is allocated") {
  CHECK_THROWS_AS(
      read_all("npy", npy_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")),
      Unsupported);
  CHECK_THROWS_AS(read_all("npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': "
                                         "(4611686018427387904, 4), }",
                                         "12345678")),
                  FormatError);
  CHECK_THROWS_AS(read_all("npy", npy_of("{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                                         "12345678")),
                  FormatError);
  const std::string big_header = std::string("\x93NUMPY\x02\x00\x00\x00\x00\x40", 12) + "{";
  CHECK_THROWS_WITH(read_all("npy", big_header), Contains("ends before its header"));
}

TEST_CASE("tensors that lie are refused") {
  const auto file = [](const std::string& header, const std::string& data = "") {
    return detail::to_little_endian(std::uint64_t(header.size())) + header + data;
  };
  CHECK_THROWS_AS(read_all("raw", file("{}")), FormatError);
  CHECK_THROWS_AS(read_all("raw", file("[[[[")), FormatError);
  CHECK_THROWS_WITH(
      read_all("raw", file(R"({"x":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", "abc")),
      Contains("bytes 0 to 9 of 3"));
  const std::string ends = R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[16,19]},)"
                           R"("x/ends":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})";
  const auto places = [](std::int64_t a, std::int64_t b) {
    return detail::to_little_endian(a) + detail::to_little_endian(b) + "abc";
  };
  CHECK_NOTHROW(read_all("raw", file(ends, places(1, 3))));
  for (const auto& [a, b] : {std::pair(2, 1), std::pair(-1, 3), std::pair(0, 4)}) {
    CHECK_THROWS_WITH(read_all("raw", file(ends, places(a, b))), Contains("x/ends"));
  }
  const std::string fields =
      R"({"__metadata__":{"format":"d5 samples","version":"1","fields":"[]"}})";
  CHECK_THROWS_WITH(read_all("raw", file(fields)), Contains("no fields"));
}
