// SPDX-License-Identifier: Apache-2.0
#include "apps/analysed_runs.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "apps/database_options.hpp"

namespace d5::app {
namespace {

AnalysedRun stored_run(const EvaluationDatabase& database, const std::string& word) {
  constexpr std::size_t kDigits = 8;
  const std::string id = database.run_id(word);
  AnalysedRun run{.name = id.substr(0, kDigits), .results = database.results(id)};
  for (const auto& piece : database.pieces(id)) {
    if (piece.kind == "trace") run.traces.push_back(database.trace(id, piece.name));
  }
  return run;
}

}  // namespace

void add_runs_argument(CLI::App& command, std::vector<std::string>& words) {
  command
      .add_option("RESULT", words,
                  "results files, with traces behind them, or ids of runs ('d5 eval history')")
      ->required();
}

bool is_file(const std::string& word) {
  std::error_code ignored;
  return word.find_first_of("./") != std::string::npos || std::filesystem::exists(word, ignored);
}

std::vector<AnalysedRun> analysed_runs(const std::vector<std::string>& words,
                                       const std::string& database) {
  if (std::ranges::all_of(words, is_file)) return read_runs(words);
  const auto open = open_database(database);
  std::vector<AnalysedRun> runs;
  for (const auto& word : words) {
    if (is_file(word)) {
      std::ranges::move(read_runs({word}), std::back_inserter(runs));
    } else {
      runs.push_back(stored_run(*open, word));
    }
  }
  return runs;
}

}  // namespace d5::app
