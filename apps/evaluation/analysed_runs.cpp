// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation/analysed_runs.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "apps/evaluation/database_options.hpp"
#include "d5/evaluation/analysis/stored_runs.hpp"

namespace d5::app {
void add_runs_argument(CLI::App& command, std::vector<std::string>& words) {
  command
      .add_option("RESULT", words,
                  "results files, each with its trace after it, or ids of runs ('d5 eval history')")
      ->required();
}

bool is_file(const std::string& word) {
  std::error_code ignored;
  return word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, ignored);
}

std::vector<AnalysedRun> analysed_runs(const std::vector<std::string>& words,
                                       const std::string& database, StoredTraces traces) {
  if (std::ranges::all_of(words, is_file)) return read_runs(words);
  const auto open = open_database(database);
  std::vector<AnalysedRun> runs;
  for (const auto& word : words) {
    if (is_file(word)) {
      std::ranges::move(read_runs({word}), std::back_inserter(runs));
    } else {
      runs.push_back(stored_run(*open, word, traces));
    }
  }
  return runs;
}

}  // namespace d5::app
