// SPDX-License-Identifier: Apache-2.0
#include "d5/core/report/compared_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/report/fail_limit.hpp"
#include "core/results/ratio_sentence.hpp"
#include "core/tables/column_layout.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tables/wrapped_text.hpp"

namespace d5 {
namespace {

/// Keeps only the requested metrics.
void choose_metrics(Results& a, Results& b, const std::vector<std::string>& metrics) {
  if (metrics.empty()) return;
  std::vector<std::string> known;
  for (const auto* results : {&a, &b}) {
    for (const auto& m : results->measurements) {
      if (std::ranges::find(known, m.metric) == known.end()) known.push_back(m.metric);
    }
  }
  for (const auto& name : metrics) {
    if (std::ranges::find(known, name) == known.end()) throw_unknown_name("metric", name, known);
  }
  for (auto* results : {&a, &b}) {
    std::erase_if(results->measurements, [&](const Measurement& m) {
      return std::ranges::find(metrics, m.metric) == metrics.end();
    });
  }
}

std::vector<ResultDifference> all_differences(const Results& a, const Results& b) {
  auto all = differences(a, b);
  const auto add = [&](const char* what, const std::string& in_a, const std::string& in_b) {
    if (in_a != in_b) all.push_back({what, in_a, in_b});
  };
  add("machine", a.environment.hostname, b.environment.hostname);
  add("processor", a.environment.cpu, b.environment.cpu);
  add("compiler", a.environment.compiler, b.environment.compiler);
  return all;
}

std::string or_none(const std::string& value) {
  return value.empty() ? "none said" : printable(value);
}

/// The table with each subject once, above its rows, if it has several.
std::string in_sections(const TextTable& table, int width) {
  std::vector<std::vector<std::string>> rows = table.rows();
  std::vector<std::string> subjects;
  std::set<std::string> different;
  for (auto& row : rows) {
    for (auto& cell : row) cell = printable_message(cell);
    subjects.push_back(row.front());
    different.insert(row.front());
    row.erase(row.begin());
  }
  if (rows.size() < 2 * different.size()) return table.to_text(Format::table, width);
  const detail::ColumnLayout layout({table.columns().begin() + 1, table.columns().end()}, rows,
                                    width);
  std::string text = layout.header();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || subjects[i] != subjects[i - 1]) {
      if (i > 0) text += '\n';
      text += wrapped(subjects[i], width);
    }
    text += layout.row(rows[i]);
  }
  return text;
}

/// "A", or with the value that distinguishes the files: "torch (A)".
std::string name_of_file(const ComparedFiles& files, const char* letter,
                         std::string ResultDifference::* side) {
  const auto place = std::ranges::find(files.differences, "framework", &ResultDifference::name);
  const bool known = place != files.differences.end() && !((*place).*side).empty();
  return known ? fmt::format("{} ({})", (*place).*side, letter) : letter;
}

/// A sentence about the first time metric in both files; empty if there is none.
std::string sentence_of(const ComparedFiles& files) {
  std::string metric;
  std::vector<JudgedRatio> ratios;
  for (const ResultPair& pair : files.report.pairs) {
    if (pair.a.quantity != Quantity::time || !pair.has_interval()) continue;
    if (metric.empty()) metric = pair.a.metric;
    if (pair.a.metric != metric) continue;
    const bool mistrusted =
        pair.a.status == Status::mistrusted || pair.b.status == Status::mistrusted;
    ratios.push_back({pair.ratio, pair.interval, mistrusted});
  }
  if (ratios.empty()) return "";
  return detail::ratio_sentence(name_of_file(files, "A", &ResultDifference::a),
                                name_of_file(files, "B", &ResultDifference::b), ratios, "pairs") +
         ", by " + printable(metric);
}

}  // namespace

bool ComparedFiles::holds() const {
  return std::ranges::all_of(findings, [](const GateFinding& finding) {
    return finding.answer == GateFinding::Answer::held;
  });
}

ComparedFiles compare_files(const std::string& a, const std::string& b,
                            const FileComparisonOptions& options) {
  detail::expect_fail_limit(options.fail_above);
  Results in_a = read_results(a), in_b = read_results(b);
  choose_metrics(in_a, in_b, options.metrics);
  ResultMatch match = match_results(in_a, in_b);
  if (match.pairs.empty()) {
    throw ValueError(
        fmt::format("compare: no measurement is in both '{}' and '{}'; they must agree "
                    "in subject and metric, and if one has several frameworks, ranks, threads, "
                    "batches or caches, also in these",
                    printable(a), printable(b)));
  }
  ComparedFiles both{.report = {.title = fmt::format("{} and {}", a, b), .pairs = {}},
                     .differences = all_differences(in_a, in_b),
                     .missing = {},
                     .findings = {}};
  if (options.fail_above > 0) both.findings = judge(match, options.fail_above);
  both.report.pairs = std::move(match.pairs);
  both.missing = std::move(match.missing);
  both.report.sources = {{a, std::move(in_a)}, {b, std::move(in_b)}};
  return both;
}

std::vector<std::string> notes_of(const ComparedFiles& files) {
  std::vector<std::string> notes;
  for (const auto& [what, in_a, in_b] : files.differences) {
    notes.push_back(
        fmt::format("A and B differ in {}: {} and {}", what, or_none(in_a), or_none(in_b)));
  }
  if (files.missing.empty()) return notes;
  const auto& [first, reason] = files.missing.front();
  const bool one = files.missing.size() == 1;
  notes.push_back(fmt::format("{} of A's records {} not compared: {} {} {}: {}{}",
                              files.missing.size(), one ? "is" : "are", printable(first.subject),
                              printable(first.framework), printable(first.metric),
                              printable_message(reason), one ? "" : ", ..."));
  return notes;
}

std::string to_text(const ComparedFiles& files, Format format, int width) {
  if (is_drawn(format)) return to_text(files.report, format);
  const TextTable table = to_table(files.report.pairs);
  std::string text =
      format == Format::table ? in_sections(table, width) : table.to_text(format, width);
  const std::string sentence = is_for_people(format) ? sentence_of(files) : "";
  return sentence.empty() ? text : text + '\n' + wrapped(sentence, width);
}

}  // namespace d5
