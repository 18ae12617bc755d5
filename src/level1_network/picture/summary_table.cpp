// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/results/results.hpp"
#include "d5/level1_network/picture/network_summary.hpp"

namespace d5 {
namespace {

using Part = NetworkSummary::Part;
using Align = TextTable::Align;

std::string title_of(SummaryBy by) {
  switch (by) {
    case SummaryBy::node:
      return "node";
    case SummaryBy::layer:
      return "layer";
    case SummaryBy::operator_type:
      return "operator";
  }
  return {};
}

/// Declared type; if ONNX's rules cannot infer it, the type for these sizes.
std::string type_of(const NetworkSummary& summary, const std::vector<std::string>& outputs) {
  for (const auto& output : outputs) {
    const auto place = summary.tensors.find(output);
    if (place == summary.tensors.end()) continue;
    const auto& [type, desc] = place->second;
    const bool known = type.kind != ValueKind::none && (type.has_shape || !desc.is_tensor());
    return known ? onnx::to_string(type) : to_string(desc);
  }
  return {};
}

class Cells {
 public:
  Cells(const NetworkSummary& summary, SummaryBy by, Format format)
      : summary_(summary), by_(by), for_people_(is_for_people(format)) {}

  std::vector<std::string> of(const Part& part, const std::string& name) const {
    std::vector<std::string> row{name};
    if (by_ == SummaryBy::node) row.push_back(part.op_type);
    if (by_ != SummaryBy::node) row.push_back(fmt::format("{}", part.nodes));
    row.push_back(type_of(summary_, part.outputs));
    row.push_back(part.parameters == 0 ? "" : fmt::format("{}", part.parameters));
    row.push_back(number(part.cost.flop, "FLOP", part));
    row.push_back(number(part.cost.bytes_read + part.cost.bytes_written, "B", part));
    const double share = part.cost.flop / summary_.total.cost.flop;
    row.push_back(!(part.cost.flop > 0) ? ""
                  : for_people_         ? fmt::format("{:.1f}%", 100 * share)
                                        : fmt::format("{}", share));
    return row;
  }

 private:
  /// "12.3 M", or "12.3 M + ?" if a part of it is unknown.
  std::string number(double value, const std::string& unit, const Part& part) const {
    std::string text;
    if (value > 0) text = for_people_ ? with_prefix(value, unit) : fmt::format("{:.0f}", value);
    if (!for_people_ || part.incomplete == 0) return text;
    return text.empty() ? "?" : text + " + ?";
  }

  const NetworkSummary& summary_;
  const SummaryBy by_;
  const bool for_people_;
};

}  // namespace

TextTable to_table(const NetworkSummary& summary, SummaryBy by, Format format) {
  std::vector<TextTable::Column> columns{title_of(by),
                                         by == SummaryBy::node
                                             ? TextTable::Column("operator")
                                             : TextTable::Column("nodes", Align::right),
                                         "output"};
  for (const char* title : {"parameters", "FLOP", "bytes", "share"}) {
    columns.emplace_back(title, Align::right);
  }
  TextTable table(columns);
  const Cells cells(summary, by, format);
  for (const Part& part : parts_of(summary, by)) table.add(cells.of(part, part.name));
  auto total = cells.of(summary.total, "total");
  if (by == SummaryBy::node) total[1].clear();
  table.add(std::move(total));
  return table;
}

}  // namespace d5
