// SPDX-License-Identifier: Apache-2.0
#include "core/report/environment_rows.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/report/figures.hpp"
#include "core/report/markup.hpp"
#include "core/results/environment_fields.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5::detail {
namespace {

std::string text_of(std::string_view, const std::string& text) { return text; }
std::string text_of(std::string_view, int number) {
  return number == 0 ? "" : fmt::format("{}", number);
}
std::string text_of(std::string_view name, double number) {
  if (number == 0) return "";
  if (name.ends_with("bytes")) return memory_size(number);
  if (name.ends_with("flop_rate")) return with_prefix(number, "flop/s");
  if (name.ends_with("byte_rate")) return with_prefix(number, "byte/s");
  return name.starts_with("clock_seconds") ? with_prefix(number, "s")
                                           : fmt::format("{:.3g}", number);
}
std::string text_of(std::string_view, const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, ", "));
}
std::string text_of(std::string_view, const std::map<std::string, std::string>& map) {
  std::string text;
  for (const auto& [name, value] : map) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

}  // namespace

std::string environment_rows(const std::vector<Report::Source>& sources) {
  std::vector<std::string> names;  // in the order of results files
  std::map<std::string, std::vector<std::string>> fields;
  for (const auto& source : sources) {
    for_each_field(source.results.environment, [&](const char* name, const auto& value) {
      if (fields[name].empty()) names.emplace_back(name);
      fields[name].push_back(text_of(name, value));
    });
  }
  std::string text = "<div class=\"scroll\"><table class=\"facts\">";
  if (sources.size() > 1) {
    text += "<thead><tr><th></th>";
    for (const auto& source : sources)
      text += "<th scope=\"col\">" + escaped(source.name) + "</th>";
    text += "</tr></thead>";
  }
  text += "\n<tbody>\n";
  for (const auto& name : names) {
    const auto& values = fields[name];
    if (std::ranges::all_of(values, [](const auto& value) { return value.empty(); })) continue;
    const bool differs =
        std::ranges::any_of(values, [&](const auto& value) { return value != values.front(); });
    text += fmt::format("<tr{}><th scope=\"row\">{}</th>", differs ? " class=\"differs\"" : "",
                        escaped(words_of(name)));
    for (const auto& value : values) text += "<td>" + escaped(value) + "</td>";
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

}  // namespace d5::detail
