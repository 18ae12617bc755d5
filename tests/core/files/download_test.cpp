// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/download.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "tests/breaking_server.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

// SHA-256 of "abc": FIPS 180-4's example.
const std::string kSumOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

// "abc" by gzip -n.
const std::string kPackedAbc(
    "\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b\x4c\x4a\x06\0\xc2\x41\x24\x35\x03\0\0\0", 23);

// SHA-256 of 100,000 times "x", by sha256sum.
const std::string kSumOfManyX = "d69e68988157833272305aaf21f453c800346e8a3640db6578e260215542e5d4";

struct DownloadFolder : testing::TemporaryFolder {
  [[nodiscard]] std::string url(const std::string& name) const { return "file://" + *this / name; }
};

/// A server that takes connections and never answers.
using SilentServer = testing::LoopbackListener;
using testing::BreakingServer;

}  // namespace

TEST_CASE("a file with the right checksum arrives, from the first address that has it") {
  const DownloadFolder folder;
  write_file(folder / "other", "abd");
  write_file(folder / "right", "abc");
  download({.urls = {folder.url("missing"), folder.url("other"), folder.url("right")},
            .sha256 = kSumOfAbc},
           folder / "result");
  CHECK(read_file(folder / "result") == "abc");
}

TEST_CASE("a wrong checksum leaves nothing, and the message has both sums") {
  const DownloadFolder folder;
  write_file(folder / "other", "abd");
  const Download what{.urls = {folder.url("other")}, .sha256 = kSumOfAbc};
  CHECK_THROWS_WITH(
      download(what, folder / "result"),
      Catch::Contains(kSumOfAbc) &&
          // SHA-256 of "abd", by sha256sum.
          Catch::Contains("a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"));
  CHECK_THROWS_AS(download(what, folder / "result"), IoError);
  CHECK_FALSE(fs::exists(folder / "result"));
  write_file(folder / "result", "mine");
  CHECK_THROWS_AS(download(what, folder / "result"), IoError);
  CHECK(read_file(folder / "result") == "mine");
}

TEST_CASE("a file that is there and right is not fetched again") {
  const DownloadFolder folder;
  write_file(folder / "result", "abc");
  CHECK_NOTHROW(
      download({.urls = {folder.url("missing")}, .sha256 = kSumOfAbc}, folder / "result"));
}

TEST_CASE("a file above the limit is refused") {
  const DownloadFolder folder;
  write_file(folder / "large", std::string(100'000, 'x'));
  CHECK_THROWS_WITH(
      download({.urls = {folder.url("large")}, .sha256 = kSumOfAbc, .most_bytes = 1000},
               folder / "result"),
      Catch::Contains("larger than 1000"));
}

TEST_CASE("the checksum of a packed file is its content's") {
  const DownloadFolder folder;
  write_file(folder / "abc.gz", kPackedAbc);
  download({.urls = {folder.url("abc.gz")}, .sha256 = kSumOfAbc}, folder / "result.gz");
  CHECK(read_file(folder / "result.gz") == kPackedAbc);
}

TEST_CASE("addresses of other kinds are refused") {
  const DownloadFolder folder;
  CHECK_THROWS_AS(download({.urls = {"ftp://127.0.0.1/x"}, .sha256 = kSumOfAbc}, folder / "r"),
                  IoError);
  CHECK_THROWS_AS(download({.urls = {}, .sha256 = kSumOfAbc}, folder / "r"), IoError);
}

TEST_CASE("whom to trust is what SSL_CERT_FILE says") {
  const DownloadFolder folder;
  const SilentServer server;
  const std::string file = folder / "authorities.pem";
  ::setenv("SSL_CERT_FILE", file.c_str(), 1);
  CHECK_THROWS_WITH(
      download({.urls = {"https" + server.url.substr(4)}, .sha256 = kSumOfAbc}, folder / "r"),
      Catch::Contains(file));
  ::unsetenv("SSL_CERT_FILE");
}

TEST_CASE("an interrupt ends a download that waits for its server") {
  const DownloadFolder folder;
  const SilentServer server;
  int questions = 0;
  const Interrupt interrupt{.wished = [&] { return ++questions > 1; }};
  CHECK_THROWS_AS(download({.urls = {server.url}, .sha256 = kSumOfAbc}, folder / "r", interrupt),
                  Interrupted);
}

TEST_CASE("a transfer that breaks off goes on from where it ended") {
  const DownloadFolder folder;
  std::vector<std::size_t> begins;
  {
    BreakingServer server("abc", {1, 1, 1});
    download({.urls = {server.url}, .sha256 = kSumOfAbc}, folder / "result");
    begins = server.begins;
  }
  CHECK(read_file(folder / "result") == "abc");
  CHECK(begins == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a later call goes on with what an earlier one left, which nobody takes for the file") {
  const DownloadFolder folder;
  const std::string content(100'000, 'x');
  const Download what{.urls = {}, .sha256 = kSumOfManyX};
  {
    BreakingServer server(content, {60'000, 0});  // the second time it brings nothing
    Download from = what;
    from.urls = {server.url};
    CHECK_THROWS_AS(download(from, folder / "result"), IoError);
  }
  CHECK_FALSE(fs::exists(folder / "result"));
  std::vector<std::size_t> begins;
  {
    BreakingServer server(content, {content.size()});
    Download from = what;
    from.urls = {server.url};
    download(from, folder / "result");
    begins = server.begins;
  }
  CHECK(begins == std::vector<std::size_t>{60'000});
  CHECK(read_file(folder / "result") == content);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);  // nothing is left beside
}

TEST_CASE("a server that knows no ranges starts from the beginning") {
  const DownloadFolder folder;
  {
    BreakingServer server("abc", {2, 3, 3}, BreakingServer::Ranges::unknown);
    download({.urls = {server.url}, .sha256 = kSumOfAbc}, folder / "result");
  }
  CHECK(read_file(folder / "result") == "abc");
}

TEST_CASE("what was left of a file that is packed otherwise is thrown away") {
  const DownloadFolder folder;
  {
    BreakingServer broken("xyz", {2, 0});
    CHECK_THROWS_AS(download({.urls = {broken.url}, .sha256 = kSumOfAbc}, folder / "result"),
                    IoError);
  }
  write_file(folder / "right", "abc");
  download({.urls = {folder.url("right")}, .sha256 = kSumOfAbc}, folder / "result");
  CHECK(read_file(folder / "result") == "abc");
}

TEST_CASE("a checksum may be of the file as it is, packed or not") {
  const DownloadFolder folder;
  write_file(folder / "file", kPackedAbc);
  // Digest computed by sha256sum.
  const Download packed{
      .urls = {folder.url("file")},
      .sha256 = "a058a4f3405f909f3a49df0cb75d96198d371ae7913e5ef6b8114a382746ee5a",
      .sum_of = Download::Sum::file};
  download(packed, folder / "result");
  CHECK(fault_of(folder / "result", packed).empty());
  CHECK_THAT(
      fault_of(folder / "result", {.urls = {}, .sha256 = kSumOfAbc, .sum_of = Download::Sum::file}),
      Catch::Contains("SHA-256 is"));
}
