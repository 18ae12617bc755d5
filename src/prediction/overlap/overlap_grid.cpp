// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ranges>
#include <sstream>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr std::size_t kWords = 2;  // model and batch come before the settings

std::vector<std::string> cells_of(std::string line) {
  if (line.ends_with('\r')) line.pop_back();
  std::vector<std::string> cells;
  for (const auto part : std::views::split(line, ',')) cells.emplace_back(part.begin(), part.end());
  return cells;
}

bool is_setting(const std::string& column) { return !column.ends_with("_percent"); }

class GridReader {
 public:
  explicit GridReader(const std::string& file) : file_(file) {}

  OverlapGrid read(const std::string& text, const std::string& base) {
    OverlapGrid grid{.base = base};
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      ++line_;
      if (line_ == 1) {
        read_head(cells_of(line), base);
      } else if (!line.empty()) {
        read_row(cells_of(line), grid.cells);
      }
    }
    if (grid.cells.empty()) fail("no row has a throughput");
    return grid;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(
        fmt::format("{}:{}: {}; expected a head 'model,batch,SETTING,...' and rows of throughputs",
                    printable(file_), line_, what));
  }

  void read_head(std::vector<std::string> head, const std::string& base) {
    head_ = std::move(head);
    if (head_.size() <= kWords || head_[0] != "model" || head_[1] != "batch") fail("no such head");
    const std::vector<std::string> settings(head_.begin() + kWords, head_.end());
    if (std::ranges::find(settings, base) != settings.end() && is_setting(base)) return;
    throw NotFound(fmt::format("{}: no column is the setting '{}'; there are {}", printable(file_),
                               printable(base), fmt::join(settings, ", ")));
  }

  void read_row(const std::vector<std::string>& row, std::vector<OverlapCell>& cells) const {
    if (row.size() != head_.size()) {
      fail(fmt::format("{} cells under a head of {}", row.size(), head_.size()));
    }
    const double batch = number(row[1]);
    if (batch != std::floor(batch) || batch > 1e15) fail("a batch that is not a whole number");
    for (std::size_t i = kWords; i < row.size(); ++i) {
      if (row[i].empty() || !is_setting(head_[i])) continue;
      OverlapCell cell{.model = row[0],
                       .batch = static_cast<std::int64_t>(batch),
                       .setting = head_[i],
                       .throughput = number(row[i])};
      if (row[i].find_first_not_of("0123456789") == std::string::npos) {
        cell.interval = {cell.throughput - 0.5, cell.throughput + 0.5};
      }
      cells.push_back(std::move(cell));
    }
  }

  [[nodiscard]] double number(const std::string& cell) const {
    double value = 0;
    const char* end = cell.data() + cell.size();
    const auto [stopped, error] = std::from_chars(cell.data(), end, value);
    if (error == std::errc() && stopped == end && std::isfinite(value) && value > 0) return value;
    fail("'" + printable(cell) + "' is not a positive number");
  }

  const std::string& file_;
  std::vector<std::string> head_;
  int line_ = 0;
};

}  // namespace

OverlapGrid overlap_grid_from_csv(const std::string& text, const std::string& file,
                                  const std::string& base) {
  return GridReader(file).read(text, base);
}

}  // namespace d5
