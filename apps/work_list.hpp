// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5::app {

/// How a command goes through many cases or models. The same in all that do.
struct ListOptions {
  bool list = false;     ///< name them
  bool dry_run = false;  ///< plan them
  bool resume = false;   ///< go on from a journal
  std::string filter;    ///< regular expression; empty: all
  const CLI::App* command = nullptr;
  /// A table of what all pieces say together, for people, below the rows. With it each piece's rows
  /// are a block of their own, with the columns that it needs.
  std::function<TextTable(const Results&)> summary = {};
};
void add_list_options(CLI::App& command, ListOptions& options);
/// Of options that say which pieces there are, and change no result of one.
inline constexpr const char* kManyGroup = "Many at once";

/// Does all of it as the options say (`d5::run_work`), prints rows as they come. Returns the exit
/// status. Throws: as `d5::run_work` and `matching`; IoError for results that could not be written.
int run_list(const std::vector<WorkPiece>& pieces, const ListOptions& options,
             const OutputOptions& output);

}  // namespace d5::app
