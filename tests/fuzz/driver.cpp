// SPDX-License-Identifier: Apache-2.0
// The program of every fuzzer: runs cases in processes of their own, and keeps those that show a
// defect.
//
//   fuzz_NAME [--seed N] [--cases N | --seconds S] [--found FOLDER] [FILE...]
//
// Case i of a seed is always the same. FILEs are cases that were kept, run instead of random ones.
// Exit status: 0 nothing was found, 1 something was, 2 bad usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "fuzz/fuzzer.hpp"
#include "fuzz/judge.hpp"
#include "isolated.hpp"

namespace d5::fuzz {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int kMostSilence = 120;  // seconds of one case, which may also wait
constexpr std::size_t kBatch = 200;
constexpr int kMostFound = 500;  // more of the same do not help

struct Options {
  std::uint64_t seed = 1;
  std::size_t cases = 1000;
  double seconds = 0;  ///< time to run, instead of a number of cases
  std::string found = "fuzz-found";
  std::vector<std::string> files;
};

struct Count {
  std::size_t done = 0, refused = 0, found = 0;
};

std::string case_of(const Options& options, std::size_t number) {
  RandomStream random(options.seed, stream_of(name()), std::uint32_t(number));
  return make_case(random);
}

/// A verdict as a line, and back.
std::string to_line(const Verdict& verdict) {
  return "drf"[int(verdict.kind)] + printable_message(verdict.text);
}
Verdict from_line(const std::string& line) {
  return {Verdict::Kind(std::string_view("drf").find(line.at(0))), line.substr(1)};
}

/// The verdicts on cases [0, count).
std::vector<Verdict> judge_apart(std::size_t count,
                                 const std::function<std::string(std::size_t)>& bytes_of) {
  const auto verdict_on = [&](std::size_t i) {
    const Verdict verdict = judge(bytes_of(i));
    // Once a process, for it takes long.
    const bool lost = i + 1 == count && verdict.kind != Verdict::Kind::found && lost_memory();
    return lost ? Verdict{Verdict::Kind::found, "memory was lost, by this case or one before it"}
                : verdict;
  };
  std::vector<Verdict> verdicts;
  for (const auto& line : run_isolated(
           count, [&](std::size_t i) { return to_line(verdict_on(i)); },
           [](const std::string& reason) { return to_line({Verdict::Kind::found, reason}); },
           kMostSilence)) {
    verdicts.push_back(from_line(line));
  }
  return verdicts;
}

void add(const Verdict& verdict, Count& count) {
  switch (verdict.kind) {
    case Verdict::Kind::done:
      ++count.done;
      return;
    case Verdict::Kind::refused:
      ++count.refused;
      return;
    case Verdict::Kind::found:
      ++count.found;
  }
}

/// Those in folders too.
std::vector<std::string> all_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const auto& word : words) {
    if (!fs::is_directory(word)) {
      files.push_back(word);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(word)) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

Count run_files(const std::vector<std::string>& words) {
  const auto files = all_files(words);
  constexpr std::size_t kMostBytes = std::size_t{1} << 26;
  const auto verdicts =
      judge_apart(files.size(), [&](std::size_t i) { return read_file(files[i], kMostBytes); });
  Count count;
  for (std::size_t i = 0; i < files.size(); ++i) {
    add(verdicts[i], count);
    if (verdicts[i].kind != Verdict::Kind::found) continue;
    fmt::print("{}: {}\n", printable(files[i]), verdicts[i].text);
  }
  return count;
}

void keep(const Options& options, std::size_t number, const Verdict& verdict) {
  const std::string bytes = case_of(options, number);
  fs::create_directories(options.found);
  const fs::path file =
      fs::path(options.found) / fmt::format("{}-{}-{}", name(), options.seed, number);
  write_file(file.string(), bytes);
  fmt::print("case {} of seed {}: {}\n  {}\n  again with: fuzz_{} {}\n", number, options.seed,
             verdict.text, printable(bytes), name(), file.string());
  std::fflush(stdout);  // before the next process takes a copy of what is not written yet
}

Count run_random(const Options& options) {
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  Count count;
  for (std::size_t begin = 0; options.seconds > 0 ? Clock::now() < end : begin < options.cases;
       begin += kBatch) {
    const std::size_t batch =
        options.seconds > 0 ? kBatch : std::min(kBatch, options.cases - begin);
    const auto verdicts =
        judge_apart(batch, [&](std::size_t i) { return case_of(options, begin + i); });
    for (std::size_t i = 0; i < batch; ++i) {
      add(verdicts[i], count);
      if (verdicts[i].kind != Verdict::Kind::found) continue;
      keep(options, begin + i, verdicts[i]);
      if (count.found == kMostFound) return count;
    }
  }
  return count;
}

int run_cases(const Options& options) {
  set_threads(1);  // cases are small, and the same in every run
  set_budget();
  prepare();
  const Count count = options.files.empty() ? run_random(options) : run_files(options.files);
  fmt::print("{}: {} cases done, {} refused, {} found\n", name(), count.done, count.refused,
             count.found);
  return count.found == 0 ? 0 : 1;
}

}  // namespace
}  // namespace d5::fuzz

/// Leaks are looked for where cases run, and freed memory is not kept for long: it would count as a
/// case's.
extern "C" const char* __asan_default_options() {
  return "leak_check_at_exit=0:quarantine_size_mb=16";
}

int main(int count, char** words) {
  d5::fuzz::Options options;
  CLI::App app("Runs random cases of one kind, each in bounded time and memory.");
  app.add_option("--seed", options.seed, "seed of all cases");
  app.add_option("--cases", options.cases, "number of cases");
  app.add_option("--seconds", options.seconds, "time to run, instead of a number of cases");
  app.add_option("--found", options.found, "folder for cases that show a defect");
  app.add_option("files", options.files, "kept cases to run, or folders of them");
  try {
    app.parse(count, words);
    return d5::fuzz::run_cases(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const d5::Error& error) {
    fmt::print(stderr, "fuzz: {}\n", error.what());
    return 2;
  }
}
