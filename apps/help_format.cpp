// SPDX-License-Identifier: Apache-2.0
#include "apps/help_format.hpp"

#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "d5/core/screen/screen.hpp"

namespace d5::app {
namespace {

constexpr std::size_t kFirstColumn = 34, kWidest = 100;

/// The column at which a line's continuation starts: that of its second column, or, with one
/// column, a little behind its own indent.
std::size_t hang_of(const std::string& line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", indent);
  const std::size_t second = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
  const bool has_two = second != std::string::npos && second < kWidest / 2;
  return has_two ? second : indent + 4;
}

/// `line` broken at spaces into several of at most `width` characters.
std::string wrapped(std::string line, std::size_t width) {
  const std::size_t hang = hang_of(line);
  std::string text;
  while (line.size() > width) {
    std::size_t cut = line.rfind(' ', width);
    if (cut == std::string::npos || cut <= hang) cut = line.find(' ', width);
    if (cut == std::string::npos) break;
    text += line.substr(0, cut) + '\n';
    line = std::string(hang, ' ') + line.substr(cut + 1);
  }
  return text + line + '\n';
}

class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kFirstColumn); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const auto width = std::min(std::size_t(screen_of(STDOUT_FILENO).width), kWidest);
    std::istringstream help(CLI::Formatter::make_help(app, std::move(name), mode));
    std::string text;
    for (std::string line; std::getline(help, line);) text += wrapped(std::move(line), width);
    return text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_format() { return std::make_shared<HelpFormatter>(); }

}  // namespace d5::app
