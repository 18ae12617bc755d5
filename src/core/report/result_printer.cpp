// SPDX-License-Identifier: Apache-2.0
#include "d5/core/report/result_printer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/report/result_blocks.hpp"
#include "core/results/ratio_sentence.hpp"
#include "core/results/written_record.hpp"
#include "core/tables/column_layout.hpp"
#include "d5/core/report/report.hpp"
#include "d5/core/results/case_summary.hpp"
#include "d5/core/tables/wrapped_text.hpp"

namespace d5 {

struct ResultPrinter::State {
  Format format;
  Screen screen;
  detail::ResultBlocks blocks;  ///< for people
  Results results;              ///< all, if the format needs them; otherwise those in summaries
  bool csv_begun = false;

  /// The first call also returns the titles.
  std::string csv(const std::vector<Measurement>& some) {
    const std::string text = to_csv({results.environment, some});
    return std::exchange(csv_begun, true) ? text.substr(text.find("\r\n") + 2) : text;
  }

  [[nodiscard]] bool comes_at_the_end() const {
    return format == Format::json || format == Format::gbench || is_drawn(format);
  }

  void keep(std::vector<Measurement> some) {
    if (!comes_at_the_end()) {
      std::erase_if(some, [](const Measurement& m) {
        return m.metric != "time_ratio" && m.metric != "share_of_peak";
      });
    }
    std::ranges::move(some, std::back_inserter(results.measurements));
  }

  /// The summary over cases, for people.
  [[nodiscard]] std::string summary() const {
    std::string text;
    const auto tables = summaries_of(results.measurements);
    for (const TextTable& table : tables) text += "\n" + table.to_text(format, screen.width);
    if (const std::string note = note_on_means(tables); !note.empty())
      text += "\n" + wrapped(note, screen.width);
    const auto sentences = detail::ratio_sentences(results.measurements);
    if (!sentences.empty()) text += "\n";
    for (const std::string& sentence : sentences) {
      text += wrapped(sentence, screen.width);
    }
    return text;
  }
};

ResultPrinter::ResultPrinter(Environment environment, Format format, Screen screen,
                             std::vector<std::string> subjects,
                             std::map<std::string, std::string> varying)
    : state_(new State{.format = format,
                       .screen = screen,
                       .blocks = {format, screen, std::move(subjects), std::move(varying)},
                       .results = {std::move(environment), {}}}) {}

ResultPrinter::~ResultPrinter() = default;

std::string ResultPrinter::add(std::vector<Measurement> some) {
  std::string text;
  if (is_for_people(state_->format)) text = state_->blocks.add(some);
  if (state_->format == Format::csv) text = state_->csv(some);
  if (state_->format == Format::jsonl) text = to_jsonl({state_->results.environment, some});
  state_->keep(std::move(some));
  return text;
}

std::string ResultPrinter::end(const Environment& environment) {
  const Results& results = state_->results;
  state_->results.environment = environment;
  switch (state_->format) {
    case Format::table:
    case Format::markdown:
      return state_->blocks.end() + state_->summary();
    case Format::json:
      return to_json(results);
    case Format::jsonl:
      return detail::summary_to_jsonl(results);
    case Format::csv:
      return (state_->csv_begun ? "" : state_->csv({})) + detail::summary_to_csv(results);
    case Format::gbench:
      return to_gbench(results);
    case Format::html:
    case Format::svg:
    case Format::png:
      return to_text(Report{.sources = {{"", results}}}, state_->format);
  }
  return "";
}

}  // namespace d5
