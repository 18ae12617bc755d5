// SPDX-License-Identifier: Apache-2.0
#include "d5/core/files/atomic_file.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
namespace fs = std::filesystem;

namespace {

struct Folder : testing::TemporaryFolder {
  [[nodiscard]] std::size_t files() const {
    return std::size_t(std::distance(fs::directory_iterator(path()), fs::directory_iterator()));
  }
};

}  // namespace

TEST_CASE("a file is read back as it was written, whatever the bytes") {
  const Folder folder;
  const std::string path = folder / "a";
  const std::string content("line\n\0\xff", 7);
  write_file(path, content);
  CHECK(read_file(path) == content);
  write_file(path, "");
  CHECK(read_file(path) == "");
  CHECK(folder.files() == 1);
}

TEST_CASE("a write that fails half-way leaves the old file and nothing beside it") {
  const Folder folder;
  const std::string path = folder / "a";
  write_file(path, "old");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  CHECK_THROWS_AS(write_file(path, std::string(5000, 'x')), IoError);
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(read_file(path) == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a place that cannot be written is an error with the system's reason") {
  const Folder folder;
  CHECK_THROWS_WITH(write_file(folder / "no/a", "x"), Catch::Contains("No such file or directory"));
  CHECK_THROWS_AS(write_file(folder.path(), "x"), IoError);
  CHECK(folder.files() == 0);
}

TEST_CASE("whether a place can be written is known before, and nothing is left there") {
  const Folder folder;
  CHECK_THROWS_WITH(check_writable(folder / "no/a"), Catch::Contains("No such file or directory"));
  CHECK_THROWS_WITH(check_writable(folder.path()), Catch::Contains("Is a directory"));
  check_writable(folder / "a");
  CHECK(folder.files() == 0);
  write_file(folder / "a", "old");
  check_writable(folder / "a");
  check_writable("/dev/null");
  CHECK(read_file(folder / "a") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a device is written, not replaced") {
  CHECK_THROWS_WITH(write_file("/dev/full", "x"), Catch::Contains("No space left on device"));
  write_file("/dev/null", "x");
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("many writers of one file leave the content of one of them") {
  const Folder folder;
  const std::string path = folder / "a";
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c) {
    writers.emplace_back([&path, c] { write_file(path, std::string(100000, c)); });
  }
  for (auto& writer : writers) writer.join();
  const std::string content = read_file(path);
  CHECK(content == std::string(100000, content.at(0)));
  CHECK(folder.files() == 1);
}

TEST_CASE("the next writer removes the file of a killed one, and nothing else") {
  const Folder folder;
  const std::string path = folder / "a";
  const pid_t writer = fork();
  if (writer == 0) {  // dies of a signal while it writes
    const rlimit small{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &small);
    std::signal(SIGXFSZ, SIG_DFL);
    write_file(path, std::string(5000, 'x'));
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(writer, &status, 0) == writer);
  REQUIRE(WIFSIGNALED(status));
  CHECK(folder.files() == 1);
  const fs::path left = fs::directory_iterator(folder.path())->path();
  // Leftovers of another file, of a living process, of another machine, and without an owner.
  const std::string name = left.filename();
  const std::string gone = std::to_string(writer), init = "1";
  std::string living = name, other_machine = name;
  living.replace(name.rfind(gone), gone.size(), init);
  other_machine.replace(0, std::string("a.tmp-").size(), "a.tmp-x");
  for (const auto& kept :
       {"b" + name.substr(1), living, other_machine, std::string("a.tmp-mine")}) {
    std::ofstream(folder / kept) << "kept";
  }
  write_file(path, "new");
  CHECK_FALSE(fs::exists(left));
  CHECK(read_file(path) == "new");
  CHECK(folder.files() == 5);
}

TEST_CASE("what a killed writer of the same number left is removed, a living one's is not") {
  const Folder folder;
  const std::string path = folder / "a";
  ReplacedFile living(path);  // in this process
  living.write("living");
  const std::string name = fs::directory_iterator(folder.path())->path().filename();
  const std::string left = folder / (name.substr(0, name.rfind('-')) + "-1000000");
  std::ofstream(left) << "of the process that had our number before";
  check_writable(path);
  CHECK_FALSE(fs::exists(left));
  CHECK(folder.files() == 1);
  living.commit();
  CHECK(read_file(path) == "living");
}

TEST_CASE("reading says why it cannot") {
  const Folder folder;
  CHECK_THROWS_AS(read_file(folder / "none"), IoError);
  CHECK_THROWS_WITH(read_file(folder.path()), Catch::Contains("it is a folder"));
  write_file(folder / "big", std::string(100, 'x'));
  CHECK_THROWS_WITH(read_file(folder / "big", 99), Catch::Contains("is larger than 99 bytes"));
  CHECK_THROWS_AS(read_file("/dev/zero", 1 << 21), IoError);
}
