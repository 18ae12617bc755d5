// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tables/table_writer.hpp"

namespace d5::app {

/// Prints text, or a picture, on stdout. Throws: ValueError for a PNG on a terminal.
void print(const std::string& text, Format format);
/// Prints `results` on stdout in the chosen format, as wide as the terminal. If the format cannot
/// show them (a plot of one value), a table goes to stderr before the error is thrown.
void print(const Results& results, const OutputOptions& options);
void print(const TextTable& table, Format format);
/// Prints text for people on stdout, wrapped to the width of the terminal.
void print_wrapped(const std::string& text);
/// Prints a table while its rows arrive. Its calls throw std::system_error if stdout can no longer
/// be written. Throws: ValueError for a format that only results have.
[[nodiscard]] TableWriter printed_table(std::vector<TextTable::Column> columns, Format format);

/// Call before measuring. Throws: IoError if `--out` cannot be written; ValueError for a PNG on a
/// terminal.
void check_output(const OutputOptions& options);
/// Reports the file that was written, unless `--quiet` is given.
void say_written(const OutputOptions& options);

/// A command's own text for people, instead of one row per record.
using TextForPeople =
    std::function<std::string(const std::vector<Measurement>&, Format, int width)>;

/// Prints the measurements with this machine's environment, and writes them to `--out`. Returns
/// their `exit_status`. Throws: IoError.
int publish(std::vector<Measurement> measurements, const OutputOptions& options,
            const TextForPeople& text = {});

}  // namespace d5::app
