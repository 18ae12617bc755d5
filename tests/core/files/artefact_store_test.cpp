// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/artefact_store.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "core/files/file_lock.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "tests/breaking_server.hpp"
#include "tests/cache_folder.hpp"
#include "tests/tar_member.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;
using testing::BreakingServer;

namespace {

namespace fs = std::filesystem;

// SHA-256 of "abc": FIPS 180-4's example.
const std::string kDigestOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A store in a folder of its own, and beside it files that have addresses.
struct OwnStore : testing::TemporaryFolder {
  ArtefactStore store{*this / "store"};

  [[nodiscard]] std::string url(const std::string& name) const { return "file://" + *this / name; }
  [[nodiscard]] Asset abc(std::vector<std::string> urls = {}) const {
    return {.name = "abc.bin", .urls = std::move(urls), .bytes = 3, .sha256 = kDigestOfAbc};
  }
  /// Publishes `content` at an address.
  [[nodiscard]] Asset published(const std::string& name, const std::string& content) const {
    write_file(*this / name, content);
    return {.name = name,
            .urls = {url(name)},
            .bytes = content.size(),
            .sha256 = detail::sha256(content)};
  }
  void age(const Asset& asset, int seconds) const {
    const timespec then{.tv_sec = std::time(nullptr) - seconds, .tv_nsec = 0};
    const timespec both[] = {then, then};
    REQUIRE(::utimensat(AT_FDCWD, store.path_of(asset.sha256).c_str(), both, 0) == 0);
  }
  void damage(const Asset& asset) const {
    REQUIRE(::chmod(store.path_of(asset.sha256).c_str(), 0644) == 0);
    write_file(store.path_of(asset.sha256), "damaged");
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(*this / "store/sha256", none)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }
};

/// Does `work` in a process of its own; its exit status.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = work();
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("an artefact is fetched by its digest, once, whatever it is called") {
  const OwnStore own;
  write_file(own / "right", "abc");
  const std::string path = own.store.fetch(own.abc({own.url("missing"), own.url("right")}));
  CHECK(path == own.store.path_of(kDigestOfAbc));
  CHECK(fs::path(path).filename() == kDigestOfAbc);
  CHECK(read_file(path) == "abc");
  fs::remove(own / "right");
  Asset other = own.abc({own.url("right")});
  other.name = "weights";
  CHECK(own.store.fetch(other) == path);
  CHECK(own.files().size() == 1);
}

TEST_CASE("a file of another digest never gets a name in the store") {
  const OwnStore own;
  write_file(own / "other", "abd");
  CHECK_THROWS_AS(own.store.fetch(own.abc({own.url("other")})), IoError);
  CHECK_THROWS_WITH(own.store.fetch(own.abc({own.url("other")})), Contains(kDigestOfAbc));
  CHECK_FALSE(own.store.has(kDigestOfAbc));
  CHECK(own.files().empty());
  CHECK(own.store.list().empty());
}

TEST_CASE("a file is read-only, and judged again before each use") {
  const OwnStore own;
  const Asset asset = own.published("right", "abc");
  const std::string path = own.store.fetch(asset);
  CHECK((fs::status(path).permissions() & fs::perms(0222)) == fs::perms::none);
  own.damage(asset);
  CHECK(own.store.verify().at(0).asset.sha256 == kDigestOfAbc);
  CHECK_THROWS_WITH(own.store.fetch(own.abc()), Contains("SHA-256 is") && Contains("artefact add"));
  CHECK(read_file(own.store.fetch(asset)) == "abc");
  CHECK(own.store.verify().empty());
}

TEST_CASE("a broken download goes on in a later call, and is not listed before") {
  const OwnStore own;
  {
    BreakingServer server("abc", {2, 0});
    CHECK_THROWS_AS(own.store.fetch(own.abc({server.url})), IoError);
  }
  CHECK(own.store.list().empty());
  CHECK_FALSE(own.store.has(kDigestOfAbc));
  std::vector<std::size_t> begins;
  {
    BreakingServer server("abc", {3});
    CHECK(read_file(own.store.fetch(own.abc({server.url}))) == "abc");
    begins = server.begins;
  }
  CHECK(begins == std::vector<std::size_t>{2});
  CHECK(own.files().size() == 1);
}

TEST_CASE("a body shorter or longer than declared is refused") {
  const OwnStore own;
  write_file(own / "short", "ab");
  write_file(own / "long", "abcd");
  CHECK_THROWS_AS(own.store.fetch(own.abc({own.url("short")})), IoError);
  CHECK_THROWS_WITH(own.store.fetch(own.abc({own.url("long")})), Contains("larger than 3 bytes"));
  write_file(own / "right", "abc");
  Asset told = own.abc({own.url("right")});
  told.bytes = 4;
  CHECK_THROWS_AS(own.store.fetch(told), FormatError);
  CHECK_THROWS_WITH(own.store.fetch(told), Contains("has 3 bytes, expected 4"));
}

TEST_CASE("processes that want a file at once download it once") {
  const OwnStore own;
  constexpr int kProcesses = 6;
  std::vector<std::size_t> begins;
  {
    BreakingServer server("abc", {3});  // a second request would wait for ever
    const Asset asset = own.abc({server.url});
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        int status = 1;
        try {
          status = read_file(own.store.fetch(asset)) == "abc" ? 0 : 2;
        } catch (...) {
        }
        ::_exit(status);
      }
      children.push_back(child);
    }
    for (const pid_t child : children) {
      int status = -1;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CHECK(status == 0);
    }
    begins = server.begins;
  }
  CHECK(begins.size() == 1);
}

TEST_CASE("waiting for another's download can be interrupted") {
  const OwnStore own;
  (void)own.store.fetch(own.published("a", "a"));  // makes the folders
  const detail::FileLock lock(own / "store/locks/ba");
  const Interrupt interrupt{.wished = [] { return true; }};
  CHECK_THROWS_AS(own.store.fetch(own.abc({own.url("right")}), interrupt), Interrupted);
}

TEST_CASE("a disk that is full leaves no artefact, and a later fetch goes on") {
  const OwnStore own;
  const std::string content(100'000, 'x');
  const Asset asset = own.published("large", content);
  CHECK(in_child([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit limit{.rlim_cur = 50'000, .rlim_max = 50'000};
          ::setrlimit(RLIMIT_FSIZE, &limit);
          try {
            (void)own.store.fetch(asset);
          } catch (const IoError& error) {
            return std::string(error.what()).find("cannot write") != std::string::npos ? 0 : 1;
          }
          return 2;
        }) == 0);
  CHECK(own.store.list().empty());
  CHECK(read_file(own.store.fetch(asset)) == content);
}

TEST_CASE("a download that cannot fit on the disk is not begun") {
  const OwnStore own;
  Asset asset = own.abc({own.url("nowhere")});
  asset.bytes = std::uint64_t{1} << 60;
  CHECK_THROWS_AS(own.store.fetch(asset), IoError);
  CHECK_THROWS_WITH(own.store.fetch(asset), Contains("1152921504606846976 bytes") &&
                                                Contains("free") && Contains("D5_CACHE_DIR"));
}

TEST_CASE("a file of one's own comes in under its digest and keeps its name and addresses") {
  const OwnStore own;
  write_file(own / "mine.onnx", "abc");
  const Asset added = own.store.add(own / "mine.onnx");
  CHECK(added == Asset{.name = "mine.onnx", .urls = {}, .bytes = 3, .sha256 = kDigestOfAbc});
  CHECK(read_file(own.store.fetch(own.abc())) == "abc");
  write_file(own / "right", "abc");
  const Asset known = own.abc({own.url("right")});
  (void)own.store.fetch(known);
  (void)own.store.add(own / "mine.onnx");
  REQUIRE(own.store.list().size() == 1);
  CHECK(own.store.list().front().asset == known);  // what says where it comes from is worth more
  own.damage(added);
  CHECK(own.store.add(own / "mine.onnx") == added);
  CHECK(own.store.verify().empty());
  CHECK_THROWS_AS(own.store.add(own / "none"), IoError);
}

TEST_CASE("collecting removes what was used longest ago, and nothing that is to be kept") {
  const OwnStore own;
  const Asset a = own.published("a", "a"), b = own.published("b", "bb"),
              c = own.published("c", "ccc");
  for (const auto& one : {a, b, c}) (void)own.store.fetch(one);
  own.age(b, 3000);
  own.age(a, 2000);
  own.age(c, 1000);
  const auto held = own.store.list();
  REQUIRE(held.size() == 3);
  CHECK(held[0].asset.name == "c");
  CHECK(held[2].asset.name == "b");
  CHECK(own.store.collect(6).empty());
  CHECK(own.store.collect(4, {b.sha256}) == std::vector<Asset>{a, c});
  CHECK(own.store.list().front().asset == b);
  CHECK(own.store.collect(0) == std::vector<Asset>{b});
}

TEST_CASE("collecting takes what is left of transfers, but not from under who goes on with one") {
  const OwnStore own;
  {
    BreakingServer server("abc", {2, 0});
    CHECK_THROWS_AS(own.store.fetch(own.abc({server.url})), IoError);
  }
  REQUIRE(own.files().size() == 1);
  {
    const detail::FileLock lock(own / "store/locks/ba");
    (void)own.store.collect(0);
    CHECK(own.files().size() == 1);
  }
  (void)own.store.collect(0);
  CHECK(own.files().empty());
}

TEST_CASE("a quota evicts the least recently used files, or says that there is no room") {
  const OwnStore own;
  ::setenv("D5_ARTEFACT_QUOTA", "4B", 1);
  const Asset a = own.published("a", "aaa"), b = own.published("b", "bbb"),
              c = own.published("c", "ccccc");
  (void)own.store.fetch(a);
  CHECK_THROWS_WITH(own.store.fetch(b), Contains("D5_ARTEFACT_QUOTA") && Contains("just now"));
  own.age(a, 7200);
  (void)own.store.fetch(b);
  CHECK_FALSE(own.store.has(a.sha256));
  CHECK_THROWS_WITH(own.store.fetch(c), Contains("which is less"));
  ::setenv("D5_ARTEFACT_QUOTA", "much", 1);
  CHECK_THROWS_AS(own.store.fetch(c), ValueError);
  ::unsetenv("D5_ARTEFACT_QUOTA");
  CHECK_NOTHROW(own.store.fetch(c));
}

TEST_CASE("a file of the store stands elsewhere too, and replacing it there changes no artefact") {
  const OwnStore own;
  const Asset asset = own.published("right", "abc");
  (void)own.store.fetch(asset);
  write_file(own / "there", "old");
  for (int times = 0; times < 2; ++times) own.store.place(asset.sha256, own / "there");
  CHECK(read_file(own / "there") == "abc");
  CHECK(fs::hard_link_count(own.store.path_of(asset.sha256)) == 2);
  write_file(own / "there", "mine");
  CHECK(own.store.verify().empty());
  CHECK_THROWS_AS(own.store.place(std::string(64, '0'), own / "none"), IoError);
  CHECK_FALSE(fs::exists(own / "none"));
}

TEST_CASE("an archive is unpacked below a folder of its own, once, and goes with its file") {
  const OwnStore own;
  const Asset asset = own.published("a.tar", testing::tar_member("images/1.txt", "one") +
                                                 testing::tar_member("./labels", "cat\n") +
                                                 std::string(1024, '\0'));
  (void)own.store.fetch(asset);
  const std::string folder = own.store.unpack(asset.sha256);
  CHECK(read_file(folder + "/images/1.txt") == "one");
  CHECK(read_file(folder + "/labels") == "cat\n");
  fs::remove(folder + "/labels");
  CHECK(own.store.unpack(asset.sha256) == folder);
  CHECK_FALSE(fs::exists(folder + "/labels"));
  (void)own.store.collect(0);
  CHECK_FALSE(fs::exists(folder));
  CHECK_THROWS_AS(own.store.unpack(asset.sha256), IoError);
}

TEST_CASE("an archive's files may have names beyond ASCII") {
  const OwnStore own;
  const std::string end(1024, '\0'), name = "größe/入力.txt", record = "path=" + name + "\n";
  const std::string length = std::to_string(record.size() + 3);  // with two digits and a space
  const Asset asset = own.published("a.tar", testing::tar_member("x", length + " " + record, 'x') +
                                                 testing::tar_member("short", "one") + end);
  (void)own.store.fetch(asset);
  CHECK(read_file(own.store.unpack(asset.sha256) + "/" + name) == "one");
}

TEST_CASE("an archive that leads outside, links, is cut or is too large leaves nothing") {
  const OwnStore own;
  const std::string end(1024, '\0'), good = testing::tar_member("good", "g");
  const auto sealed = [](std::string member) {
    long sum = 0;  // the header's bytes, with spaces for the checksum
    member.replace(148, 8, "        ");
    for (int i = 0; i < 512; ++i) sum += static_cast<unsigned char>(member[std::size_t(i)]);
    char text[8];
    std::snprintf(text, sizeof text, "%06lo", sum);
    return member.replace(148, 7, text, 7);
  };
  std::string link = testing::tar_member("link", "");
  link[156] = '2';
  link.replace(157, 11, "/etc/passwd");
  link = sealed(link);
  std::string hole = testing::tar_member("hole", "");  // GNU tar's sparse file: a hole of 4 MiB
  hole[156] = 'S';
  hole.replace(257, 8, "ustar  \0", 8);
  hole.replace(386, 24, "00020000000\00000000000\0\0", 24);
  hole.replace(483, 12, "00020000000\0", 12);
  hole = sealed(hole);
  const std::vector<std::pair<std::string, std::string>> archives = {
      {"outside of its folder", good + testing::tar_member("../evil", "e") + end},
      {"outside of its folder", good + testing::tar_member("a/../../evil", "e") + end},
      {"outside of its folder", good + testing::tar_member(own / "evil", "e") + end},
      {"is a link or a device", good + link + end},
      {"more than 100 bytes", good + testing::tar_member("large", std::string(200, 'x')) + end},
      {"more than 100 bytes", good + hole + testing::tar_member("a", std::string(200, 'x')) + end},
      {"archive", testing::tar_member("cut", std::string(5000, 'x')).substr(0, 2000)},
      {"archive", "no archive at all"}};
  int number = 0;
  for (const auto& [reason, bytes] : archives) {
    CAPTURE(number, reason);
    const Asset asset = own.published("archive" + std::to_string(number++), bytes);
    (void)own.store.fetch(asset);
    CHECK_THROWS_AS(own.store.unpack(asset.sha256, 100), FormatError);
    CHECK_THROWS_WITH(own.store.unpack(asset.sha256, 100), Contains(reason));
    CHECK_FALSE(fs::exists(own / "evil"));
    CHECK(fs::is_empty(own / "store/unpacked"));
  }
}

TEST_CASE("a word that is no digest names no file") {
  const OwnStore own;
  for (const std::string& digest : {std::string("../../etc/passwd"), std::string(64, 'A'),
                                    kDigestOfAbc.substr(1), std::string()}) {
    CAPTURE(digest);
    CHECK_THROWS_AS(own.store.path_of(digest), ValueError);
    CHECK_THROWS_AS(own.store.fetch({.name = "x", .urls = {}, .bytes = 0, .sha256 = digest}),
                    ValueError);
  }
}

TEST_CASE("the store is where d5 keeps what it can make again") {
  const testing::OwnCacheFolder cache;
  CHECK(ArtefactStore().folder() == std::string(std::getenv("D5_CACHE_DIR")) + "/artefacts");
  CHECK(ArtefactStore().list().empty());
  CHECK(cache.files().empty());
}
