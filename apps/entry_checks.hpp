// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/entries/option.hpp"

namespace d5::app {

/// Options of a command that checks entries chosen by name: optimizers, samplers, all-reduces.
struct EntryCheckOptions : OutputOptions, RunOptions {
  std::vector<std::string> entries;  ///< NAME[:KEY=VALUE]...; empty: all
};
/// Adds the argument NAME..., `--load`, `--threads`, `--seed`, `--trace` and the output options.
/// `kind` is the word of 'd5 list': "samplers".
void add_entry_check_options(CLI::App& command, EntryCheckOptions& options,
                             const std::string& kind);

/// Checks the named entries, or else `known`, one after the other until it is interrupted. An entry
/// that throws becomes a failed record if there are several entries and one rank. Throws: NotFound
/// for a name or a setting; what a single entry throws.
[[nodiscard]] std::vector<Measurement> check_entries(
    const EntryCheckOptions& options, const std::string& kind,
    const std::vector<std::string>& known,
    const std::function<std::vector<Measurement>(const EntryChoice&)>& check);

}  // namespace d5::app
