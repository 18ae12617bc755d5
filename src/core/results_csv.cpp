// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "core/direction_name.hpp"
#include "d5/core/results.hpp"

namespace d5 {
namespace {

/// A field of RFC 4180: quoted where it holds a comma, a quote or an end of line.
std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string to_csv(const Results& results) {
  std::string text =
      "subject,level,framework,framework_version,device,metric,unit,direction,status,reason,"
      "samples,"
      "minimum,first_quartile,median,third_quartile,maximum,mean,interval_low,interval_high,"
      "confidence,conditions,command,time,hostname\r\n";
  for (const auto& m : results.measurements) {
    const Summary s = summarise(m.samples);
    std::string conditions;
    for (const auto& [name, value] : m.conditions) {
      conditions += fmt::format("{}{}={}", conditions.empty() ? "" : "; ", name, value);
    }
    for (const auto& field :
         {quoted(m.subject), quoted(m.level), quoted(m.framework), quoted(m.framework_version),
          quoted(m.device), quoted(m.metric), quoted(m.unit), std::string(name_of(m.direction)),
          std::string(name_of(m.status)), quoted(m.reason), fmt::format("{}", s.count)}) {
      text += field + ',';
    }
    for (const double number :
         {s.minimum, s.first_quartile, s.median, s.third_quartile, s.maximum, s.mean,
          s.median_interval.low, s.median_interval.high, s.confidence}) {
      text += m.samples.empty() ? "," : fmt::format("{},", number);
    }
    text += fmt::format("{},{},{},{}\r\n", quoted(conditions), quoted(m.command),
                        quoted(results.environment.time), quoted(results.environment.hostname));
  }
  return text;
}

}  // namespace d5
