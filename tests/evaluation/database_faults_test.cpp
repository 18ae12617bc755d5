// SPDX-License-Identifier: Apache-2.0
// Databases that are newer, locked, full, damaged, or written by many until they are killed.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"
#include "evaluation/database/sql_connection.hpp"
#include "tests/core/sample_results.hpp"
#include "tests/evaluation/any_database.hpp"

using namespace d5;
using Catch::Contains;
using testing::AnyDatabase;
using testing::on_each_database;
using testing::TemporaryFolder;

namespace {

namespace fs = std::filesystem;

std::unique_ptr<detail::SqlConnection> connect(const AnyDatabase& any) {
  return any.kind == "a file" ? detail::open_sqlite(any.address, {})
                              : detail::open_postgresql(any.address, {});
}

EvaluationRun numbered_run(int number) {
  return {.id = "run" + std::to_string(1000 + number),
          .command = "d5 eval run",
          .environment = testing::an_environment()};
}

std::vector<Measurement> some_records(int count) {
  std::vector<Measurement> records;
  for (int i = 0; i < count; ++i) {
    Measurement record = testing::some_results().measurements.front();
    record.subject = "record " + std::to_string(i);
    records.push_back(record);
  }
  return records;
}

/// Starts `work` in a process of its own; its exit status is 0 unless it throws.
pid_t start(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 0;
  try {
    work();
  } catch (const std::exception& error) {
    (void)!::write(STDERR_FILENO, error.what(), std::strlen(error.what()));
    status = 1;
  }
  ::_exit(status);
}

int wait_for(pid_t child) {
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("processes that write at once to a database that none has made yet lose nothing") {
  on_each_database([](const AnyDatabase& any) {
    constexpr int kProcesses = 6, kRuns = 5;
    std::vector<pid_t> children;
    for (int process = 0; process < kProcesses; ++process) {
      children.push_back(start([&] {
        const auto database = any.open();
        for (int i = 0; i < kRuns; ++i) {
          const EvaluationRun run = numbered_run(process * kRuns + i);
          database->evaluation(run);
          database->measurements(run.id, "own", some_records(3));
          // All write the same run, too: who is first writes it.
          database->evaluation(numbered_run(900));
          database->measurements(numbered_run(900).id, "shared " + std::to_string(i),
                                 some_records(2));
        }
      }));
    }
    for (const pid_t child : children) CHECK(wait_for(child) == 0);
    const auto database = any.open(EvaluationDatabase::Access::read);
    CHECK(database->runs().size() == kProcesses * kRuns + 1);
    CHECK(database->measurements({}).size() == kProcesses * kRuns * 3 + kRuns * 2);
  });
}

TEST_CASE("a writer that is killed leaves whole pieces, and who repeats it writes each once") {
  on_each_database([](const AnyDatabase& any) {
    any.open()->evaluation(numbered_run(0));
    constexpr int kPieces = 40, kRecords = 5;
    const auto write_everything = [&] {
      const auto database = any.open();
      for (int piece = 0; piece < kPieces; ++piece) {
        database->measurements(numbered_run(0).id, "piece " + std::to_string(piece),
                               some_records(kRecords));
      }
    };
    const auto expect_whole = [&] {
      const auto database = any.open(EvaluationDatabase::Access::read);
      std::size_t told = 0;
      for (const auto& piece : database->pieces(numbered_run(0).id)) {
        CHECK(piece.count == kRecords);
        told += std::size_t(piece.count);
      }
      CHECK(database->measurements({}).size() == told);
      return told;
    };
    int killed = 0;
    for (int moment = 0; moment < 20; ++moment) {
      const pid_t child = start(write_everything);
      std::this_thread::sleep_for(std::chrono::milliseconds(2 * moment));
      ::kill(child, SIGKILL);
      killed += WIFSIGNALED(wait_for(child)) ? 1 : 0;
      (void)expect_whole();
    }
    CHECK(killed > 0);
    write_everything();
    CHECK(expect_whole() == kPieces * kRecords);
  });
}

TEST_CASE("a database of a newer d5 is left alone") {
  on_each_database([](const AnyDatabase& any) {
    any.open()->add(testing::some_results());
    connect(any)->change(
        "INSERT INTO schema_version (version, name, d5) VALUES ($1, $2, $3)",
        {std::int64_t(EvaluationDatabase::kSchema + 1), std::string("jobs"), std::string("9.0.0")});
    for (const auto access :
         {EvaluationDatabase::Access::read, EvaluationDatabase::Access::write}) {
      CHECK_THROWS_AS(any.open(access), FormatError);
      CHECK_THROWS_WITH(any.open(access), Contains("a newer d5 opens it"));
    }
  });
}

TEST_CASE("a database that another program does not let go of is an error, and no endless wait") {
  on_each_database([](const AnyDatabase& any) {
    any.open()->evaluation(numbered_run(0));
    const auto holder = connect(any);
    holder->begin_writing();
    if (any.kind != "a file") holder->run("LOCK TABLE piece IN ACCESS EXCLUSIVE MODE");
    const auto database = EvaluationDatabase::open(any.address, {.wait_seconds = 0.05});
    const auto write = [&] { database->measurements("run1000", "p", some_records(1)); };
    CHECK_THROWS_AS(write(), IoError);
    CHECK_THROWS_WITH(write(), Contains("another program holds its lock"));
    CHECK(database->runs().size() == 1);  // reading does not wait for the lock
    holder->roll_back();
    CHECK_NOTHROW(write());
  });
}

TEST_CASE("a writer that waits for ever writes once the lock is free") {
  on_each_database([](const AnyDatabase& any) {
    any.open()->evaluation(numbered_run(0));
    const auto holder = connect(any);
    holder->begin_writing();
    if (any.kind != "a file") holder->run("LOCK TABLE piece IN ACCESS EXCLUSIVE MODE");
    const auto database = EvaluationDatabase::open(
        any.address, {.wait_seconds = std::numeric_limits<double>::infinity()});
    const std::jthread release([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      holder->roll_back();
    });
    CHECK_NOTHROW(database->measurements("run1000", "p", some_records(1)));
  });
}

TEST_CASE("reading makes no database") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& name) {
    return EvaluationDatabase::open(folder / name, {.access = EvaluationDatabase::Access::read});
  };
  CHECK_THROWS_AS(read("none.db"), NotFound);
  CHECK(folder.names().empty());
  write_file(folder / "empty.db", "");
  CHECK_THROWS_AS(read("empty.db"), FormatError);
  CHECK_THROWS_AS(EvaluationDatabase::open(folder.path().string()), IoError);
}

TEST_CASE("a file that is no database, or another program's, is refused and kept") {
  const TemporaryFolder folder;
  const std::string text(5000, 'x');
  write_file(folder / "text.db", text);
  CHECK_THROWS_AS(EvaluationDatabase::open(folder / "text.db"), FormatError);
  CHECK(read_file(folder / "text.db") == text);
  detail::open_sqlite(folder / "other.db", {})->run("CREATE TABLE bookmark (url TEXT)");
  const std::string before = read_file(folder / "other.db");
  CHECK_THROWS_WITH(EvaluationDatabase::open(folder / "other.db"), Contains("none of d5's"));
  CHECK_THROWS_AS(
      EvaluationDatabase::open(folder / "other.db", {.access = EvaluationDatabase::Access::read}),
      FormatError);
  CHECK(read_file(folder / "other.db") == before);
}

TEST_CASE("a file damaged anywhere is reported as damaged") {
  const TemporaryFolder folder;
  {
    const auto database = EvaluationDatabase::open(folder / "whole.db");
    database->evaluation(numbered_run(0));
    database->measurements("run1000", "p", some_records(50));
  }  // closed: all of it is in one file
  const std::string whole = read_file(folder / "whole.db");
  constexpr std::size_t kPage = 4096;
  REQUIRE(whole.size() > 10 * kPage);
  const auto read_all = [&](const std::string& bytes) {
    fs::remove(folder / "damaged.db");
    write_file(folder / "damaged.db", bytes);
    const auto database = EvaluationDatabase::open(folder / "damaged.db",
                                                   {.access = EvaluationDatabase::Access::read});
    (void)database->results("run1000");
    (void)database->sql("SELECT * FROM measurement");
  };
  CHECK_NOTHROW(read_all(whole));
  int refused = 0;
  for (std::size_t page = 0; page * kPage < whole.size(); ++page) {
    std::string bytes = whole;
    std::fill_n(bytes.begin() + std::ptrdiff_t(page * kPage), kPage, '\xFF');
    try {
      read_all(bytes);  // an index that nothing here reads may be damaged
    } catch (const FormatError&) {
      ++refused;
    }  // any other type fails the test
  }
  CHECK(refused > 5);
  CHECK_THROWS_AS(read_all(whole.substr(0, whole.size() / 2)), FormatError);
}

TEST_CASE("a disk that is full costs what is being written, and nothing before it") {
  const TemporaryFolder folder;
  const std::string mark = folder / "skipped";
  const pid_t child = start([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) {
      write_file(mark, "");
      return;
    }
    const auto database = EvaluationDatabase::open(folder / "full.db");
    database->evaluation(numbered_run(0));
    database->measurements("run1000", "first", some_records(3));
    Measurement large = some_records(1).front();
    large.samples.assign(300'000, 1.0);
    const std::vector<Measurement> records = {large};
    try {
      database->measurements("run1000", "second", records);
      throw Error("more was written than fits");
    } catch (const IoError& error) {
      if (!std::strstr(error.what(), "full")) throw Error(error.what());
    }
    if (database->measurements({}).size() != 3) throw Error("what was there is not there");
    const auto again =
        EvaluationDatabase::open(folder / "full.db", {.access = EvaluationDatabase::Access::read});
    if (again->pieces("run1000").size() != 1) throw Error("a piece is there by half");
  });
  CHECK(wait_for(child) == 0);
  if (fs::exists(mark)) WARN("skipped: this process may not mount a small disk");
}

TEST_CASE("a server that is not there is an error at once, without the password of its address") {
  const std::string address = "postgresql://user:secret@127.0.0.1:1/none?connect_timeout=2";
  try {
    (void)EvaluationDatabase::open(address);
    FAIL("nobody listens there");
  } catch (const IoError& error) {
    CHECK_THAT(error.what(), Contains("cannot open the database") && !Contains("secret"));
  } catch (const Unsupported&) {
    WARN("skipped: built without libpq");
  }
}
