// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/core/files/atomic_file.hpp"
#include "d5/core/report/report.hpp"

namespace d5 {
namespace {

/// Both kinds of file begin with their format, so names within results cannot be mistaken for it.
bool is_trace(const std::string& text) {
  const auto trace = text.find("\"d5 trace\""), results = text.find("\"d5 results\"");
  return trace < results;
}

}  // namespace

Report read_report(const std::vector<std::string>& paths) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  Report report;
  for (const auto& path : paths) {
    const std::string text = read_file(path, kMostBytes);
    if (!is_trace(text)) {
      report.sources.push_back({path, results_from_json(text, path)});
      continue;
    }
    report.plots.push_back(timeline_plot(timeline_from_json(text, path)));
    if (report.plots.size() > 1) report.plots.back().title += ", " + path;
  }
  if (report.sources.size() == 1) report.sources.front().name.clear();
  return report;
}

}  // namespace d5
