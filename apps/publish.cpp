// SPDX-License-Identifier: Apache-2.0
#include "apps/publish.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "apps/kept_results.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/results/pivot.hpp"
#include "d5/core/tables/wrapped_text.hpp"

namespace d5::app {

namespace {

void expect_printable(Format format) {
  if (format != Format::png || !isatty(STDOUT_FILENO)) return;
  throw ValueError("--format png: a picture cannot be printed on a terminal; add > FILE.png");
}

}  // namespace

void print(const std::string& text, Format format) {
  expect_printable(format);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print(const Results& results, const OutputOptions& options) {
  const auto show_rows = [&] {
    try {
      print(to_text(results, options.format, screen_of(STDOUT_FILENO)), options.format);
    } catch (const ValueError&) {  // a picture of nothing must not lose the measurements
      fmt::print(stderr, "{}\n", to_text(results, Format::table, screen_of(STDERR_FILENO)));
      throw;
    }
  };
  if (options.pivot.empty()) return show_rows();
  try {
    print(pivot_text(results.measurements, options.pivot, options.format,
                     screen_of(STDOUT_FILENO).width),
          options.format);
  } catch (const NotFound&) {  // an unknown column must not lose the measurements
    show_rows();
    throw;
  }
}

void print(const TextTable& table, Format format) {
  print(table.to_text(format, screen_of(STDOUT_FILENO).width), format);
}

void print_wrapped(const std::string& text) {
  print(wrapped(text, screen_of(STDOUT_FILENO).width), Format::table);
}

TableWriter printed_table(std::vector<TextTable::Column> columns, Format format) {
  const auto write = [](std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
        std::fflush(stdout) == 0) {
      return;
    }
    throw std::system_error(errno ? errno : EIO, std::generic_category(), "stdout");
  };
  return {std::move(columns), format, write, {.width = screen_of(STDOUT_FILENO).width}};
}

void check_output(const OutputOptions& options) {
  expect_printable(options.format);
  if (!options.out.empty()) check_writable(options.out);
}

void say_written(const OutputOptions& options) {
  if (!options.quiet && !is_only_kept(options.out))
    fmt::print(stderr, "results written to {}\n", options.out);
}

int publish(std::vector<Measurement> measurements, const OutputOptions& options,
            const TextForPeople& text) {
  const Results results{environment(), std::move(measurements)};
  if (!options.out.empty()) {  // first: the terminal may be closed
    try {
      write_results(results, options.out);
    } catch (const IoError&) {
      keep_unwritten(results, options);
      throw;
    }
    say_written(options);
  }
  if (text && options.pivot.empty() && is_for_people(options.format)) {
    print(text(results.measurements, options.format, screen_of(STDOUT_FILENO).width),
          options.format);
  } else {
    print(results, options);
  }
  return exit_status(results.measurements, options.if_unsupported);
}

}  // namespace d5::app
