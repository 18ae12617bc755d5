// SPDX-License-Identifier: Apache-2.0
// Runs ONNX's backend tests on one framework and compares what became of each with the checked-in
// table (case_table.hpp), which may only improve: a case that does otherwise than the table says
// fails the run. --update writes what is new or better, and leaves the others as they are.
//
//   conformance FRAMEWORK [--load FILE] [--table FILE] [--update] [--only TEXT] [--every N]
//               [--jobs N]
//
// --every runs each N-th case alone, for frameworks that compile for a second what runs for a
// microsecond; --jobs runs N cases at a time, which share the threads.
//
// The cases are those in the folder D5_ONNX_CASES (see scripts/onnx_cases), and the models that an
// older release carried in D5_OLDER_ONNX_CASES, whose rows begin with "older/". --load brings a
// framework that is in no folder of plug-ins. Exit status: 0 as the table says, 1 something is
// worse, better (without --update), or the table's cases are others, 2 bad usage, 4 skipped.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "conformance/availability.hpp"
#include "conformance/case_runner.hpp"
#include "conformance/case_table.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "isolated.hpp"

namespace {

namespace fs = std::filesystem;
using namespace d5::conformance;

constexpr int kMostSeconds = 60;  // time limit for a case; the largest networks take seconds

struct Options {
  std::string framework, load, table, cases, older_cases, only;
  bool update = false;
  std::size_t every = 1, jobs = 1;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--update") {
      options.update = true;
    } else if (word == "--table" && i + 1 < argc) {
      options.table = argv[++i];
    } else if (word == "--only" && i + 1 < argc) {
      options.only = argv[++i];
    } else if ((word == "--every" || word == "--jobs") && i + 1 < argc) {
      const std::string_view text = argv[++i];
      std::size_t& number = word == "--every" ? options.every : options.jobs;
      std::from_chars(text.begin(), text.end(), number);
      if (number == 0) return std::nullopt;
    } else if (word == "--load" && i + 1 < argc) {
      options.load = argv[++i];
    } else if (!word.starts_with("-") && options.framework.empty()) {
      options.framework = word;
    } else {
      return std::nullopt;
    }
  }
  if (options.framework.empty()) return std::nullopt;
  const char* source = std::getenv("D5_SOURCE_DIR");
  if (options.table.empty()) {
    options.table =
        fmt::format("{}/tests/conformance/{}.txt", source ? source : ".", options.framework);
  }
  if (const char* cases = std::getenv("D5_ONNX_CASES")) options.cases = cases;
  if (const char* cases = std::getenv("D5_OLDER_ONNX_CASES")) options.older_cases = cases;
  return options;
}

/// Those of `cases` that are asked for.
Cases chosen(const Options& options, Cases cases) {
  std::erase_if(cases,
                [&](const auto& one) { return one.first.find(options.only) == std::string::npos; });
  std::size_t i = 0;
  std::erase_if(cases, [&](const auto&) { return i++ % options.every != 0; });
  return cases;
}

Outcomes run_cases(const Options& options, const Cases& cases) {
  const std::vector<Cases::value_type> all(cases.begin(), cases.end());
  const auto answers = d5::run_isolated(
      all.size(),
      [&](std::size_t i) { return to_string(run_case(all[i].second, options.framework)); },
      [](const std::string& reason) { return "failed: " + reason; }, kMostSeconds, options.jobs);
  Outcomes now;
  for (std::size_t i = 0; i < all.size(); ++i) {
    now[all[i].first] = parse_result(answers[i]);
  }
  return now;
}

/// Prints which cases differ from the table, but for better ones that are `written` down; returns
/// how many do worse and how many better.
std::pair<int, int> compare(const Outcomes& now, const Outcomes& before, bool written) {
  int worse = 0, better = 0;
  std::map<Outcome, int> counts;
  for (const auto& [name, result] : now) {
    ++counts[result.outcome];
    const Result& expected = before.at(name);
    if (result.outcome == expected.outcome) continue;
    const bool is_worse = result.outcome < expected.outcome;
    ++(is_worse ? worse : better);
    if (!is_worse && written) continue;
    fmt::print("{}: {} {}; expected {}\n", is_worse ? "worse" : "better", name, to_string(result),
               to_string(expected));
  }
  fmt::print("{} passed, {} unsupported, {} failed; against the table {} better, {} worse\n",
             counts[Outcome::passed], counts[Outcome::unsupported], counts[Outcome::failed], better,
             worse);
  return {worse, better};
}

/// The table with what ran now where that is better, or where the table does not fit the cases: it
/// does not tell which of them are new.
void update(const Options& options, const Cases& cases, CaseTable table, const Outcomes& now) {
  if (table.has_older && options.older_cases.empty()) {
    throw d5::NotFound(fmt::format(
        "the table '{}' holds cases of an older release; D5_OLDER_ONNX_CASES says where they are",
        options.table));
  }
  for (const auto& [name, result] : now) {
    Result& row = table.expected.at(name);
    if (result.outcome > row.outcome || (!table.faults.empty() && row.reason.empty())) row = result;
  }
  write_table(options.table, options.framework, cases, table.expected);
}

/// For --update alone: nothing is expected.
CaseTable first_table(const Cases& cases) {
  CaseTable table;
  table.faults.push_back("there is no table");
  for (const auto& [name, folder] : cases) table.expected[name] = {};
  return table;
}

int check(const Options& options) {
  if (!options.update && !fs::exists(options.table)) {
    throw d5::NotFound(
        fmt::format("there is no table '{}' to compare with; run it in the repository's root, name "
                    "the table by "
                    "--table, or write a first one by --update",
                    options.table));
  }
  if (options.cases.empty()) {
    fmt::print("skipped: D5_ONNX_CASES is not set; scripts/onnx_cases writes the cases\n");
    return 4;
  }
  const auto absent = why_absent(options.framework, options.load);
  if (!absent.empty()) {
    fmt::print("skipped: {}\n", absent);
    return 4;
  }
  d5::set_threads(std::max(1, d5::threads() / int(options.jobs)));
  const Cases cases = find_cases(options.cases, options.older_cases);
  const Cases asked = chosen(options, cases);
  if (asked.empty()) throw d5::NotFound("there is no case in '" + options.cases + "'");
  const CaseTable table =
      fs::exists(options.table) ? read_table(options.table, cases) : first_table(cases);
  const Outcomes now = run_cases(options, asked);
  const auto [worse, better] = compare(now, table.expected, options.update);
  for (const auto& fault : table.faults) fmt::print("{}: {}\n", options.table, fault);
  if (options.update) {
    update(options, cases, table, now);
    return worse > 0 ? 1 : 0;
  }
  if (better > 0) fmt::print("what is better is written by --update\n");
  return worse > 0 || better > 0 || !table.faults.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse(argc, argv);
  if (!options) {
    fmt::print(stderr,
               "usage: conformance FRAMEWORK [--load FILE] [--table FILE] [--update] [--only TEXT] "
               "[--every N] [--jobs N]\n");
    return 2;
  }
  try {
    return check(*options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "conformance: {}\n", error.what());
    return 2;
  }
}
