// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5::app {

/// Options for many cases or models at once. The same in all commands that take several.
struct ListOptions {
  bool list = false;               ///< print their names
  bool dry_run = false;            ///< plan them
  bool resume = false;             ///< continue from a journal
  bool is_kept_elsewhere = false;  ///< `WorkOptions::is_kept_elsewhere`
  std::string filter;              ///< regular expression; empty: all
  const CLI::App* command = nullptr;
  /// A summary table over all pieces, for people, below the rows. With it each piece's rows are a
  /// block with the columns that it needs.
  std::function<TextTable(const Results&)> summary = {};
};
void add_list_options(CLI::App& command, ListOptions& options);
/// Prints the records of pieces that ran elsewhere as `run_list` prints its own; `all` joins them.
void print_pieces(const std::vector<Results>& pieces, const Results& all,
                  const OutputOptions& output,
                  const std::function<TextTable(const Results&)>& summary);
/// Group of the options that select pieces, and change no result of one.
inline constexpr const char* kManyGroup = "Many at once";

/// Runs all pieces as the options say (`d5::run_work`) and prints rows as they come. Returns the
/// exit status. Throws: as `d5::run_work` and `matching`; IoError if results could not be written.
int run_list(const std::vector<WorkPiece>& pieces, const ListOptions& options,
             const OutputOptions& output);

}  // namespace d5::app
