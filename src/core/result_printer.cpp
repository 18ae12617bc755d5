// SPDX-License-Identifier: Apache-2.0
#include "d5/core/result_printer.hpp"

#include <iterator>
#include <utility>

#include "core/result_blocks.hpp"
#include "d5/core/report.hpp"

namespace d5 {

struct ResultPrinter::State {
  Format format;
  detail::ResultBlocks blocks;  ///< for people
  Results results;              ///< for formats that need all of them, and CSV's environment
  bool csv_begun = false;

  /// The first lines begin with the titles.
  std::string csv(std::vector<Measurement> some) {
    results.measurements = std::move(some);
    const std::string text = to_csv(results);
    return std::exchange(csv_begun, true) ? text.substr(text.find("\r\n") + 2) : text;
  }
};

ResultPrinter::ResultPrinter(Environment environment, Format format, Screen screen,
                             std::vector<std::string> subjects)
    : state_(new State{.format = format,
                       .blocks = {format, screen, std::move(subjects)},
                       .results = {std::move(environment), {}}}) {}

ResultPrinter::~ResultPrinter() = default;

std::string ResultPrinter::add(std::vector<Measurement> some) {
  if (is_for_people(state_->format)) return state_->blocks.add(some);
  if (state_->format == Format::csv) return state_->csv(std::move(some));
  if (state_->format == Format::jsonl)
    return to_jsonl({state_->results.environment, std::move(some)});
  auto& all = state_->results.measurements;
  all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  return "";
}

std::string ResultPrinter::end(const Environment& environment) {
  if (is_for_people(state_->format)) return state_->blocks.end();
  state_->results.environment = environment;
  switch (state_->format) {
    case Format::json:
      return to_json(state_->results);
    case Format::gbench:
      return to_gbench(state_->results);
    case Format::html:
    case Format::svg:
    case Format::png:
      return to_text(Report{.sources = {{"", state_->results}}}, state_->format);
    case Format::csv:
      return state_->csv_begun ? "" : state_->csv({});
    default:
      return "";
  }
}

}  // namespace d5
