// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/traced_run.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

bool holds(const Timeline& timeline, int rank, const std::string& name) {
  return std::ranges::any_of(timeline.records, [&](const TraceRecord& record) {
    return record.rank == rank && record.name == name;
  });
}

void do_something() { const Span span("test", "something"); }

}  // namespace

TEST_CASE("one timeline holds what every rank did in the run") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  run_traced({.path = path}, world(), do_something);
  CHECK_FALSE(Trace::on());
  if (world()->rank() != 0) return;  // its own folder holds nothing
  const Timeline all = read_timeline(path);
  for (int rank = 0; rank < world()->size(); ++rank) CHECK(holds(all, rank, "something"));
}

TEST_CASE("a run that throws leaves what rank 0 did, and without a path nothing is traced") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  const auto fails = [] {
    do_something();
    throw ValueError("no");
  };
  CHECK_THROWS_AS(run_traced({.path = path}, world(), fails), ValueError);
  CHECK_FALSE(Trace::on());
  CHECK(std::filesystem::exists(path) == (world()->rank() == 0));
  if (world()->rank() == 0) CHECK(read_timeline(path).cut_off == "no");
  bool traced = true;
  run_traced({}, world(), [&] { traced = Trace::on(); });
  CHECK_FALSE(traced);
}

TEST_CASE("a timeline tells that its run was cut off") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "trace.json";
  run_traced({.path = path, .cut_off = [] { return "interrupted"; }}, world(), do_something);
  if (world()->rank() == 0) CHECK(read_timeline(path).cut_off == "interrupted");
}

TEST_CASE("a file that cannot be written is an error on every rank, before anything runs") {
  bool ran = false;
  CHECK_THROWS_AS(run_traced({.path = "/no/such/folder/t.json"}, world(), [&] { ran = true; }),
                  IoError);
  CHECK_FALSE(ran);
}
