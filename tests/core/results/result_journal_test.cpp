// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/result_journal.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
namespace fs = std::filesystem;
using testing::TemporaryFolder;
using Begin = ResultJournal::Begin;
using End = ResultJournal::End;

namespace {

std::vector<Measurement> records(const std::string& subject, double value) {
  return {{.subject = subject, .metric = "time", .unit = "s", .samples = {value}}};
}

}  // namespace

TEST_CASE("what was added is there after a kill, and a run that goes on has it") {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  const pid_t child = fork();
  if (child == 0) {
    ResultJournal journal(path, "--samples 3", Begin::anew);
    journal.add("a", records("a", 0.1));
    journal.add("b", records("b", std::numeric_limits<double>::infinity()));
    std::raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  CHECK_FALSE(fs::exists(path));
  // It is the only record of that run.
  CHECK_THROWS_WITH(ResultJournal(path, "--samples 3", Begin::anew),
                    Catch::Contains("2 pieces of a killed run"));
  CHECK_THROWS_WITH(ResultJournal(path, "--samples 9", Begin::resumed),
                    Catch::Contains("--samples 3") && Catch::Contains("--samples 9"));
  ResultJournal journal(path, "--samples 3", Begin::resumed);
  REQUIRE(journal.find("a"));
  CHECK(journal.find("a")->at(0).samples == std::vector{0.1});
  CHECK(journal.find("b")->at(0).samples.at(0) == std::numeric_limits<double>::infinity());
  CHECK_FALSE(journal.find("c"));
  journal.add("c", records("c", 3));
  journal.finish({{}, records("all", 4)}, End::whole);
  CHECK(read_results(path).measurements.at(0).subject == "all");
  CHECK_FALSE(fs::exists(path + ".journal"));
}

TEST_CASE("a piece that was cut within its line is forgotten, those before are not") {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  {
    ResultJournal journal(path, "", Begin::anew);
    journal.add("a", records("a", 1));
    journal.add("b", records("b", 2));
  }
  const std::string text = read_file(path + ".journal");
  write_file(path + ".journal", text.substr(0, text.size() - 5));
  {
    ResultJournal journal(path, "", Begin::resumed);
    CHECK(journal.find("a"));
    CHECK_FALSE(journal.find("b"));
    journal.add("c", records("c", 3));
  }
  ResultJournal again(path, "", Begin::resumed);
  CHECK(again.find("a"));
  CHECK(again.find("c"));
}

TEST_CASE("a run that was cut short in order may start again, or go on") {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  {
    ResultJournal journal(path, "", Begin::anew);
    journal.add("a", records("a", 1));
    journal.finish({{}, records("a", 1)}, End::cut_short);
  }
  CHECK(read_results(path).measurements.size() == 1);
  CHECK(ResultJournal(path, "", Begin::resumed).find("a"));
  CHECK_FALSE(ResultJournal(path, "other", Begin::anew).find("a"));
  CHECK_FALSE(fs::exists(path + ".journal"));  // nothing was added to it
}

TEST_CASE("a run goes on from a whole results file, and loses nothing of it") {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  const auto told = [](std::vector<PiecewiseRun::Piece> pieces) {
    return PiecewiseRun{.how = "--samples 3", .pieces = std::move(pieces)};
  };
  auto two = records("a", 1);
  two.push_back(two.front());
  {
    ResultJournal journal(path, "--samples 3", Begin::anew);
    journal.add("a", two);
    journal.add("b", records("b", 2));
    auto all = two;
    all.push_back(records("b", 2).front());
    journal.finish({{}, all, told({{"a", 2}, {"b", 1}})}, End::whole);
  }
  CHECK_THROWS_WITH(ResultJournal(path, "--samples 9", Begin::resumed),
                    Catch::Contains("--samples 3") && Catch::Contains("--samples 9"));
  CHECK_FALSE(fs::exists(path + ".journal"));
  CHECK(ResultJournal(path, "--samples 3", Begin::resumed).is_written());
  CHECK_FALSE(fs::exists(path + ".journal"));
  const pid_t child = fork();
  if (child == 0) {  // what it goes on with is in the journal from the first that is added
    ResultJournal journal(path, "--samples 3", Begin::resumed);
    journal.add("c", records("c", 3));
    std::raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  {
    ResultJournal journal(path, "--samples 3", Begin::resumed);
    CHECK_FALSE(journal.is_written());
    CHECK(journal.find("a")->size() == 2);
    CHECK(journal.find("b")->at(0).samples == std::vector{2.0});
    REQUIRE(journal.find("c"));
    // This run asks for c alone, and was interrupted in a fourth.
    auto rows = records("c", 3);
    rows.push_back(records("d", 4).front());
    journal.finish({{}, rows, told({{"c", 1}})}, End::cut_short);
  }
  const Results results = read_results(path);
  std::string subjects;
  for (const auto& m : results.measurements) subjects += m.subject;
  CHECK(subjects == "caabd");
  CHECK(results.run == told({{"c", 1}, {"a", 2}, {"b", 1}}));
  fs::remove(path + ".journal");
  CHECK_FALSE(ResultJournal(path, "--samples 3", Begin::resumed).find("d"));
}

TEST_CASE("a results file that tells no pieces is nothing to go on from") {
  const TemporaryFolder folder;
  write_results({{}, records("a", 1)}, folder / "r.json");
  CHECK_THROWS_WITH(ResultJournal(folder / "r.json", "", Begin::resumed),
                    Catch::Contains("does not list"));
  write_file(folder / "s.json",
             R"({"format": "d5 results", "schema": 2, "environment": {}, "measurements": [],
                 "run": {"how": "", "pieces": [{"name": "a", "records": 1}]}})");
  CHECK_THROWS_WITH(read_results(folder / "s.json"), Catch::Contains("run.pieces"));
}

TEST_CASE("a full disk is reported, and what was kept before stays whole") {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    ResultJournal journal(path, "", Begin::anew);
    journal.add("a", records("a", 1));
    const auto size = fs::file_size(path + ".journal");
    const rlimit limit{.rlim_cur = size + 100, .rlim_max = size + 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      journal.add("b", records("b", 2));
    } catch (const IoError&) {
      _exit(fs::file_size(path + ".journal") == size && !journal.find("b") ? 0 : 2);
    }
    _exit(3);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(ResultJournal(path, "", Begin::resumed).find("a"));
}

TEST_CASE("a disk that was full from the beginning holds nothing to go on from") {
  const TemporaryFolder folder;
  const std::string path = folder / "r.json";
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    ResultJournal journal(path, "", Begin::anew);
    const rlimit limit{.rlim_cur = 10, .rlim_max = 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      journal.finish({{}, records("a", 1)}, End::cut_short);
    } catch (const IoError& error) {
      _exit(std::string(error.what()).find("--resume") == std::string::npos ? 0 : 2);
    }
    _exit(3);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a place that cannot be written, and one that another run writes, are refused at once") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(ResultJournal("/no/such/folder/r.json", "", Begin::anew), IoError);
  CHECK_THROWS_AS(ResultJournal(folder / "", "", Begin::anew), IoError);
  const ResultJournal first(folder / "r.json", "", Begin::anew);
  CHECK_THROWS_WITH(ResultJournal(folder / "r.json", "", Begin::anew),
                    Catch::Contains("another run"));
  write_file(folder / "other.json.journal", "[1, 2]\n");
  CHECK_THROWS_AS(ResultJournal(folder / "other.json", "", Begin::anew), FormatError);
  write_file(folder / "other.json.journal", "{\"format\": 3}\n");
  CHECK_THROWS_AS(ResultJournal(folder / "other.json", "", Begin::resumed), FormatError);
  ResultJournal device("/dev/null", "", Begin::anew);  // nothing to keep, nothing beside it
  device.add("a", records("a", 1));
  device.finish({}, End::whole);
}
