// SPDX-License-Identifier: Apache-2.0
#include "d5/core/npz.hpp"

#include <catch2/catch.hpp>

#include "core/files/zip.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/npy.hpp"
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

}  // namespace

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

TEST_CASE("what is no archive of arrays is refused with the name of the array") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "bad.npz";
  const std::string array = to_npy(Tensor::of<float>({1}, {1}));
  write_file(path, "no zip");
  CHECK_THROWS_AS(read_npz(path), FormatError);
  write_archive(path, {{"x.npy", array}, {"x.npy", array}});
  CHECK_THROWS_WITH(read_npz(path), Contains("array 'x' twice"));
  write_archive(path, {{"x.npy", "\x93NUMPY"}});
  CHECK_THROWS_WITH(read_npz(path), Contains("bad.npz/x.npy"));
  // What numpy.savez writes of an array of objects: dtype '|O', then a pickle.
  std::string pickled = array;
  pickled.replace(pickled.find("<f4"), 3, "|O\'");
  write_archive(path, {{"x.npy", pickled}});
  CHECK_THROWS_AS(read_npz(path), Unsupported);
  CHECK_THROWS_WITH(read_npz(path), Contains("pickle"));
  CHECK_THROWS_AS(read_npz(folder / "none.npz"), IoError);
}
