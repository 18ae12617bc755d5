// SPDX-License-Identifier: Apache-2.0
// Runs ONNX's backend tests on one framework and compares what became of each with the checked-in
// table, which may only improve: a case that does worse than its row fails the run. --update writes
// rows that are new or better, and leaves the others as they are.
//
//   conformance FRAMEWORK [--load FILE] [--table FILE] [--update] [--only TEXT] [--every N]
//               [--jobs N]
//
// --every runs each N-th case alone, for frameworks that compile for a second what runs for a
// microsecond; --jobs runs N cases at a time, which share the threads.
//
// The cases are those in the folder D5_ONNX_CASES (see scripts/onnx_cases), and the models that an
// older release carried in D5_OLDER_ONNX_CASES, whose rows begin with "older/". --load brings a
// framework that is in no folder of plug-ins. Exit status: 0 as
// good as the table, 1 something is worse, 2 bad usage, 4 skipped.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include "conformance/availability.hpp"
#include "conformance/case_runner.hpp"
#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "isolated.hpp"

namespace {

namespace fs = std::filesystem;
using d5::conformance::Outcome;
using d5::conformance::Result;

constexpr int kMostSeconds = 60;  // of one case; the largest networks take seconds

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

/// The folders of cases by name.
using Cases = std::map<std::string, std::string>;

/// Every test folder below `root` as "<prefix>kind/name".
void add_cases(const std::string& root, const std::string& prefix, const std::string& only,
               Cases& cases) {
  for (const auto& kind : fs::directory_iterator(root)) {
    if (!kind.is_directory()) continue;
    for (const auto& entry : fs::directory_iterator(kind)) {
      const auto name = prefix + fs::relative(entry.path(), root).string();
      if (fs::exists(entry.path() / "model.onnx") && name.find(only) != std::string::npos) {
        cases[name] = entry.path();
      }
    }
  }
}

Cases find_cases(const Options& options) {
  Cases result;
  add_cases(options.cases, "", options.only, result);
  if (!options.older_cases.empty()) {
    add_cases(options.older_cases, "older/", options.only, result);
  }
  std::size_t i = 0;
  std::erase_if(result, [&](const auto&) { return i++ % options.every != 0; });
  return result;
}

using Table = std::map<std::string, Result>;

/// Lines "name outcome[: reason]"; those beginning with # are comments.
Table read_table(const std::string& path) {
  Table table;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto space = line.find(' ');
    table[line.substr(0, space)] = d5::conformance::parse_result(line.substr(space + 1));
  }
  return table;
}

void write_table(const std::string& path, const Options& options, const Table& table) {
  std::string text =
      fmt::format("# ONNX's backend tests on framework {0}, written by: conformance {0} --update\n",
                  options.framework);
  for (const auto& [name, result] : table) {
    text += fmt::format("{} {}\n", name, d5::conformance::to_string(result));
  }
  d5::write_file(path, text);
}

Table run_cases(const Options& options, const Cases& cases) {
  const std::vector<Cases::value_type> all(cases.begin(), cases.end());
  const auto answers = d5::run_isolated(
      all.size(),
      [&](std::size_t i) {
        return to_string(d5::conformance::run_case(all[i].second, options.framework));
      },
      [](const std::string& reason) { return "failed: " + reason; }, kMostSeconds, options.jobs);
  Table table;
  for (std::size_t i = 0; i < all.size(); ++i) {
    table[all[i].first] = d5::conformance::parse_result(answers[i]);
  }
  return table;
}

/// Prints what differs and returns how many cases do worse than their row. A case without a row
/// must not fail.
int compare(const Table& now, const Table& before) {
  int worse = 0, better = 0;
  std::map<Outcome, int> counts;
  for (const auto& [name, result] : now) {
    ++counts[result.outcome];
    const auto row = before.find(name);
    const Outcome expected = row == before.end() ? Outcome::unsupported : row->second.outcome;
    if (result.outcome < expected) {
      ++worse;
      fmt::print("worse: {} {}\n", name, to_string(result));
    } else if (row == before.end() || result.outcome > expected) {
      ++better;
    }
  }
  fmt::print("{} passed, {} unsupported, {} failed; against the table {} better, {} worse\n",
             counts[Outcome::passed], counts[Outcome::unsupported], counts[Outcome::failed], better,
             worse);
  return worse;
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
  const auto absent = d5::conformance::why_absent(options.framework, options.load);
  if (!absent.empty()) {
    fmt::print("skipped: {}\n", absent);
    return 4;
  }
  d5::set_threads(std::max(1, d5::threads() / int(options.jobs)));
  const auto cases = find_cases(options);
  if (cases.empty()) throw d5::NotFound("there is no case in '" + options.cases + "'");
  Table table = read_table(options.table);
  const Table now = run_cases(options, cases);
  const int worse = compare(now, table);
  if (options.update) {
    for (const auto& [name, result] : now) {
      const auto [row, fresh] = table.try_emplace(name, result);
      if (!fresh && result.outcome > row->second.outcome) row->second = result;
    }
    write_table(options.table, options, table);
  }
  return worse > 0 ? 1 : 0;
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
