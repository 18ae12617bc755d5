// SPDX-License-Identifier: Apache-2.0
#include "evaluation/scenario/loadgen/loadgen_report.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

std::ifstream open_log(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw IoError(fmt::format("LoadGen left no {}", printable(path)));
  return file;
}

/// "  Min duration satisfied : NO" -> "Min duration satisfied: NO"
void read_summary(const std::string& path, LoadGenReport& report) {
  std::ifstream file = open_log(path);
  bool recommends = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Result is : ")) {
      report.summarised = true;
      report.valid = line.ends_with(" VALID");
    } else if (line == "Recommendations:") {
      recommends = true;
    } else if (recommends && line.starts_with(" * ")) {
      report.reasons.push_back(line.substr(3));
    } else if (recommends && line.starts_with("   ")) {
      report.reasons.back() += line.substr(2);
    } else {
      recommends = false;
      if (line.starts_with("  Early stopping satisfied: NO")) {
        report.reasons.push_back("too few queries for its confidence (early stopping)");
      }
    }
  }
}

void read_errors(const std::string& path, LoadGenReport& report) {
  std::ifstream file = open_log(path);
  constexpr std::string_view kMark = ":::MLLOG ", kError = "error_";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(kMark) || line.find(kError) == std::string::npos) continue;
    const auto entry = nlohmann::json::parse(line.substr(kMark.size()), nullptr, false);
    if (entry.is_discarded() || !entry.contains("key") || !entry["key"].is_string()) continue;
    if (!entry["key"].get<std::string>().starts_with(kError)) continue;
    const auto& value = entry["value"];
    report.reasons.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  }
}

}  // namespace

LoadGenReport read_loadgen_report(const std::string& folder) {
  LoadGenReport report;
  read_summary(folder + "/mlperf_log_summary.txt", report);
  read_errors(folder + "/mlperf_log_detail.txt", report);
  return report;
}

}  // namespace d5::detail
