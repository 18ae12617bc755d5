// SPDX-License-Identifier: Apache-2.0
#include "evaluation/load/trace_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Longest prompt or answer: above the context of any model, and a prompt of it takes 40 MB.
constexpr double kMostTokens = 1e7;
/// Largest time in s, three centuries: a number of nanoseconds holds it.
constexpr double kMostTraceTime = 9e9;

/// The finite number that a text is; nothing for any other text.
std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

bool is_length(double value) {
  return value >= 0 && value <= kMostTokens && value == std::floor(value);
}
std::string expected_length() {
  return fmt::format("expected a whole number from 0 to {:.0f}", kMostTokens);
}

/// A field of a CSV line, without blanks and quotes around it.
struct TraceCell {
  std::string_view text;
  std::size_t place = 0;
};

void cut_cells(std::string_view line, std::vector<TraceCell>& cells) {
  cells.clear();
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    TraceCell cell{line.substr(begin, end - begin), begin};
    while (!cell.text.empty() && cell.text.front() == ' ') {
      cell.text.remove_prefix(1);
      ++cell.place;
    }
    while (!cell.text.empty() && cell.text.back() == ' ') cell.text.remove_suffix(1);
    if (cell.text.size() > 1 && cell.text.front() == '"' && cell.text.back() == '"') {
      cell.text = cell.text.substr(1, cell.text.size() - 2);
      ++cell.place;
    }
    cells.push_back(cell);
    begin = end + 1;
  }
}

/// Whole numbers that a text begins with, which is cut by them; nothing if it begins otherwise.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  int value = 0;
  if (text.size() < digits) return std::nullopt;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = 10 * value + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}
bool take_one(std::string_view& text, std::string_view letters) {
  if (text.empty() || letters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Nanoseconds since 1970 of "2023-11-16 18:15:46.6805900"; the zone (Z, +00:00) may be left out.
std::optional<std::int64_t> nanoseconds_of(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take_one(text, "-")) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take_one(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day || !take_one(text, " T")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || !take_one(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || !take_one(text, ":")) return std::nullopt;
  const auto second = take_digits(text, 2);
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(unsigned(*month)),
                                         std::chrono::day(unsigned(*day))};
  const bool fits = second && date.ok() && *year >= 1970 && *year < 2200 && *hour < 24 &&
                    *minute < 60 && *second < 60;
  if (!fits) return std::nullopt;
  std::int64_t fraction = 0;  // ns
  if (take_one(text, ".")) {
    std::int64_t unit = 100'000'000;
    if (text.empty()) return std::nullopt;
    for (std::optional<int> digit; (digit = take_digits(text, 1)); unit /= 10) {
      fraction += *digit * unit;  // digits below a nanosecond are dropped
    }
  }
  std::int64_t zone = 0;  // minutes
  if (!text.empty() && !take_one(text, "Z")) {
    const int sign = text.front() == '-' ? -1 : 1;
    if (!take_one(text, "+-")) return std::nullopt;
    const auto hours = take_digits(text, 2);
    (void)take_one(text, ":");
    const auto minutes = take_digits(text, 2);
    if (!hours || !minutes) return std::nullopt;
    zone = sign * (60 * *hours + *minutes);
  }
  if (!text.empty()) return std::nullopt;
  constexpr std::int64_t kMinute = 60, kHour = 3600, kSecond = 1'000'000'000;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (days * 24 * kHour + *hour * kHour + (*minute - zone) * kMinute + *second) * kSecond +
         fraction;
}

/// Columns of a CSV file with a header.
class CsvTrace : public TraceFormat {
 public:
  /// Columns of the header that a format takes. A file may lack `session`.
  struct Columns {
    std::string time, prompt, answer, session = {};
  };
  [[nodiscard]] static bool has(const Columns& columns, std::string_view header) {
    std::vector<TraceCell> cells;
    cut_cells(header, cells);
    return std::ranges::all_of(
        std::array{columns.time, columns.prompt, columns.answer}, [&](const std::string& name) {
          return std::ranges::find(cells, name, &TraceCell::text) != cells.end();
        });
  }
  explicit CsvTrace(Columns columns) : columns_(std::move(columns)) {}

  bool read(const TraceLine& line, TraceEntry& entry) final {
    cut_cells(line.text, cells_);
    if (width_ == 0) {
      width_ = cells_.size();
      const auto place_of = [&](const std::string& name) {
        return std::size_t(std::ranges::find(cells_, name, &TraceCell::text) - cells_.begin());
      };
      time_ = place_of(columns_.time);
      prompt_ = place_of(columns_.prompt);
      answer_ = place_of(columns_.answer);
      session_ = place_of(columns_.session);
      return false;
    }
    if (cells_.size() != width_) {
      line.fail(0, fmt::format("{} columns, expected {} as the header has", cells_.size(), width_));
    }
    const TraceCell& time = cells_[time_];
    entry.time = time.text;
    entry.place = time.place;
    const auto seconds = seconds_of(time.text);
    if (!seconds) {
      line.fail(time.place, fmt::format("{} is '{}', expected {}", columns_.time,
                                        printable(time.text), expected_time()));
    }
    entry.seconds = *seconds;
    entry.prompt_tokens = length_in(line, columns_.prompt, cells_[prompt_]);
    entry.answer_tokens = length_in(line, columns_.answer, cells_[answer_]);
    if (session_ < width_) entry.session = cells_[session_].text;
    return true;
  }

 private:
  [[nodiscard]] virtual std::optional<double> seconds_of(std::string_view text) = 0;
  [[nodiscard]] virtual std::string expected_time() const = 0;
  static std::int64_t length_in(const TraceLine& line, const std::string& column,
                                const TraceCell& cell) {
    const auto value = finite_number(cell.text);
    if (!value || !is_length(*value)) {
      line.fail(cell.place,
                fmt::format("{} is '{}', {}", column, printable(cell.text), expected_length()));
    }
    return std::int64_t(*value);
  }

  const Columns columns_;
  std::vector<TraceCell> cells_;
  std::size_t width_ = 0, time_ = 0, prompt_ = 0, answer_ = 0;
  std::size_t session_ = 0;  ///< `width_`: the file has none
};

class AzureTrace final : public CsvTrace {
 public:
  static Columns columns() { return {"TIMESTAMP", "ContextTokens", "GeneratedTokens"}; }
  AzureTrace() : CsvTrace(columns()) {}
  [[nodiscard]] std::string name() const override { return "azure"; }

 private:
  std::optional<double> seconds_of(std::string_view text) override {
    const auto moment = nanoseconds_of(text);
    if (!moment) return std::nullopt;
    if (!first_) first_ = *moment;  // a double has no room for a date and for nanoseconds
    return double(*moment - *first_) / 1e9;
  }
  std::string expected_time() const override { return "a time as 2023-11-16 18:15:46.6805900"; }

  std::optional<std::int64_t> first_;
};

class BurstgptTrace final : public CsvTrace {
 public:
  static Columns columns() {
    return {"Timestamp", "Request tokens", "Response tokens", "Session ID"};
  }
  BurstgptTrace() : CsvTrace(columns()) {}
  [[nodiscard]] std::string name() const override { return "burstgpt"; }

 private:
  std::optional<double> seconds_of(std::string_view text) override {
    const auto seconds = finite_number(text);
    return seconds && *seconds >= 0 && *seconds <= kMostTraceTime ? seconds : std::nullopt;
  }
  std::string expected_time() const override {
    return fmt::format("seconds from 0 to {:g}", kMostTraceTime);
  }
};

/// JSON objects, one a line.
class MooncakeTrace final : public TraceFormat {
 public:
  explicit MooncakeTrace(std::int64_t block) : block_(block) {}
  [[nodiscard]] std::string name() const override { return "mooncake"; }

  bool read(const TraceLine& line, TraceEntry& entry) override {
    const nlohmann::json object = parsed(line);
    constexpr double kMilliseconds = 1e3;
    const double time = number(line, object, "timestamp");
    entry.place = place_of(line, "timestamp");
    if (!(time >= 0 && time <= kMostTraceTime * kMilliseconds)) {
      line.fail(entry.place, fmt::format("'timestamp' is {}, expected milliseconds from 0 to {:g}",
                                         time, kMostTraceTime * kMilliseconds));
    }
    entry.seconds = time / kMilliseconds;
    time_ = fmt::format("{} ms", time);
    entry.time = time_;
    entry.prompt_tokens = length(line, object, "input_length");
    entry.answer_tokens = length(line, object, "output_length");
    read_blocks(line, object, entry);
    return true;
  }

 private:
  static nlohmann::json parsed(const TraceLine& line) {
    const char* expected = "expected an object a line, {\"timestamp\": ..., \"input_length\": ...}";
    try {
      expect_shallow_json(line.text, "it");
      auto object = nlohmann::json::parse(line.text);
      if (object.is_object()) return object;
    } catch (const nlohmann::json::parse_error& error) {
      line.fail(std::size_t(std::max<std::size_t>(error.byte, 1) - 1),
                fmt::format("no JSON, {}", expected));
    } catch (const nlohmann::json::exception&) {
      line.fail(0, "a number is too large");
    } catch (const FormatError& error) {
      line.fail(0, error.what());
    }
    line.fail(0, expected);
  }
  static std::size_t place_of(const TraceLine& line, const std::string& name) {
    const std::size_t place = line.text.find('"' + name + '"');
    return place == std::string_view::npos ? 0 : place;
  }
  static double number(const TraceLine& line, const nlohmann::json& object, const char* name) {
    const auto value = object.find(name);
    if (value == object.end()) line.fail(0, fmt::format("there is no '{}'", name));
    if (!value->is_number()) {
      line.fail(place_of(line, name),
                fmt::format("'{}' is {}, expected a number", name, printable(value->dump())));
    }
    return value->get<double>();
  }
  static std::int64_t length(const TraceLine& line, const nlohmann::json& object,
                             const char* name) {
    const double value = number(line, object, name);
    if (!is_length(value)) {
      line.fail(place_of(line, name),
                fmt::format("'{}' is {}, {}", name, value, expected_length()));
    }
    return std::int64_t(value);
  }
  /// Some traces have an id for the last, shorter block, others for whole blocks alone, or for
  /// none.
  void read_blocks(const TraceLine& line, const nlohmann::json& object, TraceEntry& entry) const {
    const auto ids = object.find("hash_ids");
    if (ids == object.end()) return;
    const std::size_t place = place_of(line, "hash_ids");
    if (!ids->is_array()) line.fail(place, "'hash_ids' is no list, expected ids of blocks");
    const auto whole = std::size_t(entry.prompt_tokens / block_);
    const std::size_t all = whole + (entry.prompt_tokens % block_ > 0);
    if (!ids->empty() && ids->size() != all && ids->size() != whole) {
      line.fail(place, fmt::format("'hash_ids' has {} ids, but {} tokens are {} blocks of {}; set "
                                   "'block' to the tokens of this trace's blocks",
                                   ids->size(), entry.prompt_tokens, all, block_));
    }
    for (const auto& id : *ids) {
      if (!id.is_number_unsigned()) {
        line.fail(place, fmt::format("'hash_ids' has {}, expected whole numbers from 0 on",
                                     printable(id.dump())));
      }
      entry.blocks.push_back(id.get<std::uint64_t>());
    }
  }

  const std::int64_t block_;
  std::string time_;
};

/// Arrival times alone.
class TimesTrace final : public TraceFormat {
 public:
  [[nodiscard]] std::string name() const override { return "times"; }
  bool read(const TraceLine& line, TraceEntry& entry) override {
    entry.time = line.text.substr(0, line.text.find_first_of(", "));
    const auto seconds = finite_number(entry.time);
    if (!seconds && std::exchange(is_first_, false)) return false;  // the header
    is_first_ = false;
    if (!seconds) {
      line.fail(0, fmt::format("'{}' does not begin with a number of seconds; a trace with lengths "
                               "has a header, as {},{},{}",
                               printable(line.text), AzureTrace::columns().time,
                               AzureTrace::columns().prompt, AzureTrace::columns().answer));
    }
    entry.seconds = *seconds;
    return true;
  }

 private:
  bool is_first_ = true;
};

}  // namespace

void TraceLine::fail(std::size_t place, const std::string& words) const {
  throw FormatError(fmt::format("{}:{}:{}: {}", printable(file), number, place + 1, words));
}

std::unique_ptr<TraceFormat> trace_format(const TraceLine& first, std::int64_t block) {
  const std::size_t begin = first.text.find_first_not_of(' ');
  if (begin != std::string_view::npos && first.text[begin] == '{') {
    return std::make_unique<MooncakeTrace>(block);
  }
  if (CsvTrace::has(AzureTrace::columns(), first.text)) return std::make_unique<AzureTrace>();
  if (CsvTrace::has(BurstgptTrace::columns(), first.text)) {
    return std::make_unique<BurstgptTrace>();
  }
  return std::make_unique<TimesTrace>();
}

}  // namespace d5::detail
