// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/validation/node_comparison.hpp"

namespace d5 {
namespace {

constexpr std::size_t kMostRows = 20;

/// The two records of one node.
struct Row {
  const Measurement* accumulated = nullptr;
  const Measurement* own = nullptr;

  [[nodiscard]] double own_error() const { return own->samples.empty() ? 0 : own->samples.front(); }
};

std::string error_of(const Measurement& m) {
  if (m.status == Status::unsupported || m.samples.empty()) return std::string(name_of(m.status));
  return fmt::format("{:.2e}", m.samples.front());
}

const char* verdict_of(const Row& row) {
  const bool differs = row.accumulated->status == Status::failed;
  if (row.own->status == Status::failed) return "differs by itself";
  if (!differs) return row.own->status == Status::mistrusted ? "nothing to compare" : "";
  return condition_of(*row.accumulated, "inputs") == "agree" ? "differs within the network"
                                                             : "inherits it";
}

std::vector<Row> rows_of(std::span<const Measurement> records) {
  std::vector<Row> rows;
  for (const Measurement& m : records) {
    if (m.metric == "accumulated_error") rows.push_back({.accumulated = &m});
    if (m.metric == "own_error" && !rows.empty()) rows.back().own = &m;
  }
  std::erase_if(rows, [](const Row& row) { return !row.own; });
  std::ranges::stable_sort(rows, std::greater<>(), [](const Row& row) {
    return std::pair(row.own->status == Status::failed, row.own_error());
  });
  return rows;
}

std::string name_of_node(const Measurement& m) {
  return fmt::format("{} '{}'", condition_of(m, "operator"), condition_of(m, "node"));
}

/// The reason why a node could not be compared; null if all could.
const Measurement* first_without_answer(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    for (const Measurement* m : {row.accumulated, row.own}) {
      if (m->status == Status::unsupported) return m;
    }
  }
  return nullptr;
}

/// Describes the first node to differ.
std::string words_on(const Measurement& first, const std::vector<Row>& rows) {
  const Measurement& own = *std::ranges::find(rows, &first, &Row::accumulated)->own;
  const std::string alone = own.status == Status::failed ? "it differs as well: it is this node"
                            : own.status == Status::unsupported
                                ? "it cannot run: " + printable_message(own.reason)
                                : "it agrees: the network around it makes the difference";
  return fmt::format(
      "first to differ is {}, node {} of {}\n  its inputs agree; {}\n  alone, on the reference's "
      "values, {}\n",
      name_of_node(first), condition_of(first, "place"), rows.size(),
      printable_message(first.reason), alone);
}

std::string heading(std::span<const Measurement> records, const std::vector<Row>& rows) {
  const Measurement& largest = *rows.front().own;
  std::string text = fmt::format("{}, {}: ", largest.subject, largest.framework);
  const auto whole = std::ranges::find(records, "whole_error", &Measurement::metric);
  if (whole != records.end()) {
    text += fmt::format(
        "the whole network differs, its {} nodes do not: several of them cause the difference "
        "together\n  {}\n  'd5 net check MODEL --framework {} --reduce FOLDER' finds which\n",
        rows.size(), printable_message(whole->reason), whole->framework);
  } else if (const Measurement* first = first_to_differ(records)) {
    text += words_on(*first, rows);
  } else if (const Measurement* missing = first_without_answer(rows)) {
    text += fmt::format("none of {} nodes is seen to differ, but not all could be compared\n  {}\n",
                        rows.size(), printable_message(missing->reason));
  } else {
    text += fmt::format("all {} nodes agree; by itself {} differs most, by {}\n", rows.size(),
                        name_of_node(largest), error_of(largest));
  }
  return text;
}

/// Text for one network in one framework.
std::string text_of(std::span<const Measurement> records, Format format) {
  using enum TextTable::Align;
  const auto rows = rows_of(records);
  if (rows.empty()) return {};
  TextTable table({{"place", right},
                   "node",
                   "operator",
                   {"own error", right},
                   {"own bound", right},
                   {"accumulated", right},
                   {"its bound", right},
                   "verdict"});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const auto& [accumulated, own] = rows[i];
    table.add({condition_of(*own, "place"), condition_of(*own, "node"),
               condition_of(*own, "operator"), error_of(*own), condition_of(*own, "bound"),
               error_of(*accumulated), condition_of(*accumulated, "bound"), verdict_of(rows[i])});
  }
  table.drop_empty_columns();
  std::string text = heading(records, rows) + '\n' + table.to_text(format);
  if (rows.size() > kMostRows) {
    text += fmt::format("{} more differ less by themselves\n", rows.size() - kMostRows);
  }
  return text;
}

}  // namespace

std::string node_comparison_tables(const std::vector<Measurement>& records, Format format) {
  std::string text;
  for (auto begin = records.begin(); begin != records.end();) {
    const auto end = std::find_if(begin, records.end(), [&](const Measurement& m) {
      return m.subject != begin->subject || m.framework != begin->framework;
    });
    const std::string next = text_of({begin, end}, format);
    text += (text.empty() || next.empty() ? "" : "\n") + next;
    begin = end;
  }
  return text;
}

}  // namespace d5
