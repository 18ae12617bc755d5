// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/entries/option.hpp"

namespace d5::app {

/// Of a command that checks parts which are chosen by name: optimizers, samplers, all-reduces.
struct EntryCheckOptions : OutputOptions, RunOptions {
  std::vector<std::string> entries;  ///< NAME[:KEY=VALUE]...; none: all that there are
};
/// The argument NAME..., `--load`, `--threads`, `--seed`, `--trace`, and where results go.
/// `kind` is the word of 'd5 list': "samplers".
void add_entry_check_options(CLI::App& command, EntryCheckOptions& options,
                             const std::string& kind);

/// Checks the entries that were named, or else `known`, one after the other until it is
/// interrupted. One that throws is a failed record where there are others, and one rank alone.
/// Throws: NotFound for a name or a setting; what a single one throws.
[[nodiscard]] std::vector<Measurement> check_entries(
    const EntryCheckOptions& options, const std::string& kind,
    const std::vector<std::string>& known,
    const std::function<std::vector<Measurement>(const EntryChoice&)>& check);

}  // namespace d5::app
