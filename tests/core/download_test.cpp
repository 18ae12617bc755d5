// SPDX-License-Identifier: Apache-2.0
#include "d5/core/download.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

namespace fs = std::filesystem;

// SHA-256 of "abc": FIPS 180-4's example.
const std::string kSumOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

struct Folder : testing::TemporaryFolder {
  [[nodiscard]] std::string url(const std::string& name) const { return "file://" + *this / name; }
};

/// A server that takes connections and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_, any, size) == 0);
    REQUIRE(::listen(socket_, 1) == 0);
    REQUIRE(::getsockname(socket_, any, &size) == 0);
    url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/file";
    ::setenv("no_proxy", "127.0.0.1", 1);
  }
  ~SilentServer() { ::close(socket_); }
  std::string url;

 private:
  int socket_;
};

}  // namespace

TEST_CASE("a file with the right checksum arrives, from the first address that has it") {
  const Folder folder;
  write_file(folder / "other", "abd");
  write_file(folder / "right", "abc");
  download({.urls = {folder.url("missing"), folder.url("other"), folder.url("right")},
            .sha256 = kSumOfAbc},
           folder / "result");
  CHECK(read_file(folder / "result") == "abc");
}

TEST_CASE("a wrong checksum leaves nothing, and the message has both sums") {
  const Folder folder;
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
  const Folder folder;
  write_file(folder / "result", "abc");
  CHECK_NOTHROW(
      download({.urls = {folder.url("missing")}, .sha256 = kSumOfAbc}, folder / "result"));
}

TEST_CASE("a file above the limit is refused") {
  const Folder folder;
  write_file(folder / "large", std::string(100'000, 'x'));
  CHECK_THROWS_WITH(
      download({.urls = {folder.url("large")}, .sha256 = kSumOfAbc, .most_bytes = 1000},
               folder / "result"),
      Catch::Contains("larger than 1000"));
}

TEST_CASE("the checksum of a packed file is its content's") {
  const Folder folder;
  // "abc" by gzip -n.
  const unsigned char packed[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00,
                                  0x00, 0x03, 0x4b, 0x4c, 0x4a, 0x06, 0x00, 0xc2,
                                  0x41, 0x24, 0x35, 0x03, 0x00, 0x00, 0x00};
  const std::string content(reinterpret_cast<const char*>(packed), sizeof packed);
  write_file(folder / "abc.gz", content);
  download({.urls = {folder.url("abc.gz")}, .sha256 = kSumOfAbc}, folder / "result.gz");
  CHECK(read_file(folder / "result.gz") == content);
}

TEST_CASE("addresses of other kinds are refused") {
  const Folder folder;
  CHECK_THROWS_AS(download({.urls = {"ftp://127.0.0.1/x"}, .sha256 = kSumOfAbc}, folder / "r"),
                  IoError);
  CHECK_THROWS_AS(download({.urls = {}, .sha256 = kSumOfAbc}, folder / "r"), IoError);
}

TEST_CASE("an interrupt ends a download that waits for its server") {
  const Folder folder;
  const SilentServer server;
  int questions = 0;
  const Interrupt interrupt{.wished = [&] { return ++questions > 1; }};
  CHECK_THROWS_AS(download({.urls = {server.url}, .sha256 = kSumOfAbc}, folder / "r", interrupt),
                  Interrupted);
}
