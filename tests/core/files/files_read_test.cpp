// SPDX-License-Identifier: Apache-2.0
#include "core/files/files_read.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/files/atomic_file.hpp"
#include "tests/temporary_folder.hpp"

namespace d5::detail {
namespace {

TEST_CASE("a file is read whole, whatever its size is beside that of a block") {
  const testing::TemporaryFolder folder;
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, (1 << 20) - 1, 1 << 20, (1 << 20) + 1}) {
    std::string content(size, 'x');
    if (size > 0) content.back() = 'e';
    write_file(folder / "a", content);
    CHECK((read_file(folder / "a") == content));
  }
  CHECK(read_file("/proc/self/stat").size() > 10);  // which the system says has 0 bytes
}

TEST_CASE("files that are read are heard while somebody listens, each by all that do") {
  const testing::TemporaryFolder folder;
  write_file(folder / "a", "1");
  write_file(folder / "b", "2");
  (void)read_file(folder / "a");
  const FilesRead outer;
  (void)read_file(folder / "b");
  {
    const FilesRead inner;
    (void)read_file(folder / "a");
    CHECK(inner.stamps().size() == 1);
  }
  REQUIRE(outer.stamps().size() == 2);
  CHECK(outer.stamps()[0].path() == folder / "b");
  CHECK(outer.stamps()[1].path() == folder / "a");
}

TEST_CASE("a file that is named counts as one that is read, if it is there") {
  const testing::TemporaryFolder folder;
  write_file(folder / "a", "1");
  const FilesRead files;
  FilesRead::note(folder / "a");
  FilesRead::note(folder / "nowhere");
  REQUIRE(files.stamps().size() == 1);
  CHECK(files.stamps()[0].path() == folder / "a");
  CHECK(files.stamps()[0].is_as_it_was());
}

TEST_CASE("a stamp tells a file that was written to, replaced or removed") {
  const testing::TemporaryFolder folder;
  write_file(folder / "a", "one");
  const auto stamp = [&] {
    const FilesRead files;
    (void)read_file(folder / "a");
    return files.stamps().at(0);
  };
  const FileStamp first = stamp();
  CHECK(first.is_as_it_was());
  write_file(folder / "a", "two");  // another file of the same size
  CHECK_FALSE(first.is_as_it_was());
  const FileStamp second = stamp();
  CHECK(second.is_as_it_was());
  std::filesystem::last_write_time(folder / "a", std::filesystem::file_time_type::clock::now());
  CHECK_FALSE(second.is_as_it_was());
  const FileStamp third = stamp();
  std::filesystem::remove(folder / "a");
  CHECK_FALSE(third.is_as_it_was());
}

}  // namespace
}  // namespace d5::detail
