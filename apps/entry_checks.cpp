// SPDX-License-Identifier: Apache-2.0
#include "apps/entry_checks.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/ctrl_c.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::app {

void add_entry_check_options(CLI::App& command, EntryCheckOptions& options,
                             const std::string& kind) {
  command.add_option(
      "NAME", options.entries,
      fmt::format("{} ('d5 list {}'), each as NAME[:KEY=VALUE]...; all if left out", kind, kind));
  add_load_option(command, options.load);
  add_process_options(command, options);
  add_output_options(command, options);
  add_unsupported_option(command, options);
}

std::vector<Measurement> check_entries(
    const EntryCheckOptions& options, const std::string& kind,
    const std::vector<std::string>& known,
    const std::function<std::vector<Measurement>(const EntryChoice&)>& check) {
  const auto& words = options.entries.empty() ? known : options.entries;
  std::vector<Measurement> results;
  for (const std::string& word : words) {
    if (interrupted()) break;
    const EntryChoice choice = entry_of_words(kind, word);
    std::vector<Measurement> records;
    try {
      records = check(choice);
    } catch (const NotFound&) {
      throw;
    } catch (...) {
      // On several ranks, a rank that continued alone would wait for ever.
      if (words.size() == 1 || world()->size() > 1) throw;
      Measurement& failed = records.emplace_back(error_record());
      failed.subject = kind + " " + word;
      record_failure(failed, std::current_exception());
    }
    for (auto& record : records) {
      record.command += to_line(options);
      results.push_back(std::move(record));
    }
  }
  return results;
}

}  // namespace d5::app
