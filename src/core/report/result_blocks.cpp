// SPDX-License-Identifier: Apache-2.0
#include "core/report/result_blocks.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/core/tables/wrapped_text.hpp"

namespace d5::detail {
namespace {

using Row = std::vector<ResultCell>;

std::string_view status_colour(Status status) {
  constexpr std::array<std::string_view, 5> colours = {"\x1b[32m", "\x1b[31m", "\x1b[33m",
                                                       "\x1b[2m", "\x1b[2m"};
  return colours.at(std::size_t(status));
}

/// The columns of all rows: subject and framework first, then conditions, numbers last.
std::vector<std::string> names_in(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) {
    std::size_t after = 0;
    for (const auto& cell : row) {
      const auto place = std::ranges::find(names, cell.column);
      if (place != names.end()) {
        after = std::size_t(place - names.begin()) + 1;
      } else {
        names.insert(names.begin() + std::ptrdiff_t(after++), cell.column);
      }
    }
  }
  return names;
}

const ResultCell* cell_of(const Row& row, std::string_view column) {
  const auto place = std::ranges::find(row, column, &ResultCell::column);
  return place == row.end() || place->text.empty() ? nullptr : &*place;
}

/// Rows with findings that few others have: columns of these would be empty for all others.
std::vector<bool> told_apart(const std::vector<Row>& rows) {
  constexpr std::size_t kMany = 3;  // columns that make the others narrow
  std::map<std::string, std::size_t> rows_with;
  for (const Row& row : rows) {
    for (const ResultCell& cell : row) rows_with[cell.column] += !cell.text.empty();
  }
  std::vector<bool> apart;
  for (const Row& row : rows) {
    const auto own = std::ranges::count_if(row, [&](const ResultCell& cell) {
      return cell.kind == ResultCell::Kind::found && !cell.text.empty() &&
             4 * rows_with.at(cell.column) <= rows.size();
    });
    apart.push_back(std::size_t(own) >= kMany);
  }
  return apart;
}

bool is_whole_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Only the rows of a Markdown table.
std::string without_header(const std::string& text) {
  return text.substr(text.find('\n', text.find('\n') + 1) + 1);
}

}  // namespace

ResultBlocks::ResultBlocks(Format format, Screen screen, std::vector<std::string> subjects,
                           std::map<std::string, std::string> varying)
    : format_(format),
      screen_(screen),
      subjects_(std::move(subjects)),
      varying_(std::move(varying)) {}

bool ResultBlocks::fits(const std::vector<Row>& rows) {
  bool all = begun_;
  for (const auto& row : rows) {
    for (const auto& [column, text, kind] : row) {
      if (text.empty() || std::ranges::find(names_, column) != names_.end()) continue;
      if (in_sections_ && column == "subject") continue;
      const std::string& before = equal_.try_emplace(column, text).first->second;
      if (kind != ResultCell::Kind::number && before == text) continue;
      varied_.insert(column);
      all = false;
    }
  }
  return all;
}

std::string ResultBlocks::begin(const std::vector<Row>& rows,
                                const std::vector<std::string>& statuses) {
  names_.clear();
  equal_.clear();
  said_.clear();
  in_sections_ = false;
  section_.clear();
  const bool more = subjects_.size() > 1, alone = rows.size() == 1 && !more;
  for (const auto& name : names_in(rows)) {
    std::set<std::string> values;
    std::size_t count = 0;
    ResultCell::Kind kind = ResultCell::Kind::tells;
    for (const auto& row : rows) {
      const ResultCell* cell = cell_of(row, name);
      if (!cell) continue;
      values.insert(cell->text);
      kind = cell->kind;
      ++count;
    }
    if (values.empty()) continue;
    const bool of_one = name == "subject" || name == "framework" || name == "device";
    const bool of_few = 2 * count < rows.size();  // would be wrong for most rows
    const bool needed =
        kind == ResultCell::Kind::number || (kind == ResultCell::Kind::found && of_few);
    const bool shown = needed || values.size() > 1 || varied_.contains(name) ||
                       varying_.contains(name) || (name == "subject" && more) || (of_one && alone);
    if (shown && name == "subject" && format_ == Format::table &&
        rows.size() >= 2 * values.size()) {
      in_sections_ = true;
    } else if (shown) {
      names_.push_back(name);
    } else if (values.size() == 1) {
      equal_[name] = *values.begin();
      if (!of_few) said_.push_back(name);
    }
  }
  std::string text = (begun_ ? "\n" : "") + head();
  begun_ = true;
  if (format_ == Format::markdown) return text + TextTable(columns()).to_text(format_);
  lay_out(rows, statuses);
  if (layout_->is_folded() && std::erase(names_, "subject") > 0) {
    in_sections_ = true;
    lay_out(rows, statuses);
  }
  return text + layout_->header();
}

void ResultBlocks::lay_out(const std::vector<Row>& rows, const std::vector<std::string>& statuses) {
  std::vector<std::vector<std::string>> cells;
  for (std::size_t i = 0; i < rows.size(); ++i) cells.push_back(place(rows[i], statuses[i]));
  for (const auto& subject : subjects_) {
    // Placeholder for later rows, with numbers of typical width.
    Row row = {{"subject", printable_message(subject)},
               {"value", "12.34 Gflop/s"},
               {"95% interval", "[12.34, 12.34]"}};
    for (const auto& [name, longest] : varying_) row.push_back({name, longest});
    for (const auto& cell : rows.front()) {
      if (is_whole_number(cell.text)) row.push_back({cell.column, "12345"});
    }
    cells.push_back(place(row, "mistrusted [1]"));
  }
  // Number of columns from the value to the status.
  const auto numbers = std::size_t(names_.end() - std::ranges::find(names_, "value"));
  layout_.emplace(columns(), cells, screen_.width, numbers + 1);
}

std::string ResultBlocks::head() const {
  std::string text;
  for (const auto& name : said_) {
    if (name == "statistic") continue;  // the numbers' title
    text += (text.empty() ? "" : "; ") + printable(name) + " " + printable_message(equal_.at(name));
  }
  if (text.empty()) return "";
  if (format_ == Format::markdown) return text + "\n\n";
  return wrapped(text, screen_.width) + '\n';
}

std::vector<TextTable::Column> ResultBlocks::columns() const {
  using enum TextTable::Align;
  std::vector<TextTable::Column> columns;
  for (const auto& name : names_) {
    const auto statistic = equal_.find("statistic");
    const bool told = name == "value" && statistic != equal_.end();
    const bool right_aligned = name == "value" || name == "95% interval" || name == "samples";
    columns.emplace_back(told ? statistic->second : printable(name), right_aligned ? right : left);
  }
  columns.emplace_back("status");
  return columns;
}

std::vector<std::string> ResultBlocks::place(const Row& row, std::string status) const {
  std::vector<std::string> cells;
  for (const auto& name : names_) {
    const ResultCell* cell = cell_of(row, name);
    cells.push_back(cell ? printable_message(cell->text) : "");
  }
  cells.push_back(std::move(status));
  return cells;
}

std::string ResultBlocks::section(const std::string& subject) {
  if (!in_sections_ || subject == section_) return "";
  std::string text = section_.empty() ? "" : "\n";
  text += wrapped(printable_message(subject), screen_.width);
  section_ = subject;
  return text;
}

std::string ResultBlocks::print(const std::vector<std::string>& cells, Status status) const {
  if (format_ == Format::markdown) {
    TextTable table(columns());
    table.add(cells);
    return without_header(table.to_text(format_));
  }
  std::string text = layout_->row(cells);
  if (screen_.colour == Colour::never) return text;
  const std::size_t begin = text.rfind(name_of(status));
  if (begin == std::string::npos) return text;
  const std::size_t end = text.find('\n', begin);
  text.insert(end, "\x1b[0m");
  return text.insert(begin, status_colour(status));
}

std::string ResultBlocks::add(const std::vector<Measurement>& rows) {
  std::vector<Row> cells;
  for (const auto& row : rows) cells.push_back(cells_of(row));
  const std::vector<bool> apart = told_apart(cells);
  std::string text;
  for (const bool is_apart : {false, true}) {
    std::vector<const Measurement*> some;
    std::vector<Row> its_cells;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (apart[i] != is_apart) continue;
      some.push_back(&rows[i]);
      its_cells.push_back(cells[i]);
    }
    if (!some.empty()) text += add_alike(some, its_cells, is_apart);
  }
  return text;
}

std::string ResultBlocks::add_alike(const std::vector<const Measurement*>& rows,
                                    const std::vector<Row>& cells, bool begins) {
  std::vector<std::string> statuses;
  for (const auto* row : rows) statuses.push_back(notes_.status_of(*row));
  std::string text;
  if (begins || !fits(cells)) text = begin(cells, statuses);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += section(rows[i]->subject) + print(place(cells[i], statuses[i]), rows[i]->status);
  }
  return text;
}

std::string ResultBlocks::end() const {
  if (!begun_) return "nothing was measured\n";
  return notes_.below_table(format_, screen_.width);
}

}  // namespace d5::detail
