// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/arrival_stream.hpp"

namespace d5 {
namespace {

/// The number at the beginning of a line, up to a comma, a space or its end; nullopt if there is
/// none.
std::optional<double> first_number(std::string_view line) {
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  const bool ends = end == line.data() + line.size() || *end == ',' || *end == ' ' || *end == '\r';
  if (error != std::errc() || !ends || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::vector<double> read_moments(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw IoError(fmt::format("arrivals: {} cannot be read", printable(file)));
  std::vector<double> moments;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line == "\r") continue;
    const auto moment = first_number(line);
    if (!moment && number == 1) continue;  // the header
    if (!moment) {
      throw FormatError(fmt::format("{}:{}: '{}' does not begin with a number of seconds",
                                    printable(file), number, printable(line)));
    }
    if (!moments.empty() && *moment < moments.back()) {
      throw FormatError(fmt::format("{}:{}: {} s comes after {} s; expected ascending moments",
                                    printable(file), number, *moment, moments.back()));
    }
    moments.push_back(*moment);
  }
  if (moments.empty()) {
    throw FormatError(fmt::format("{}: has no moments, expected one a line", printable(file)));
  }
  return moments;
}

class RecordedArrivals final : public ArrivalStream {
 public:
  RecordedArrivals(std::vector<double> moments, double round)
      : moments_(std::move(moments)), round_(round) {}
  std::optional<double> next() override {
    if (place_ == moments_.size()) {
      if (round_ == 0) return std::nullopt;
      place_ = 0;
      ++rounds_;
    }
    return moments_[place_++] + double(rounds_) * round_;
  }

 private:
  std::vector<double> moments_;
  double round_;  ///< s from a round to the next; 0: a single round
  std::size_t place_ = 0;
  std::int64_t rounds_ = 0;
};

}  // namespace

std::unique_ptr<ArrivalStream> recorded_arrivals(const RecordingOptions& options) {
  const auto& [file, speed, from, to, loop] = options;
  if (!(speed > 0) || !std::isfinite(speed)) {
    throw ValueError(fmt::format("arrivals: speed is {}, expected a positive number", speed));
  }
  if (!(from >= 0) || !(to == 0 || to > from)) {
    throw ValueError(
        fmt::format("arrivals: cut from {} to {} s, expected 0 or more and a later end", from, to));
  }
  const std::vector<double> all = read_moments(file);
  std::vector<double> kept;
  for (const double moment : all) {
    const double since = moment - all.front();
    if (since >= from && (to == 0 || since < to)) kept.push_back((since - from) / speed);
  }
  if (kept.empty()) {
    throw ValueError(
        fmt::format("arrivals: {} has nothing from {} s on{}; it lasts {} s", printable(file), from,
                    to ? fmt::format(" and before {} s", to) : "", all.back() - all.front()));
  }
  constexpr double kMostSeconds =
      1e15;  // thirty million years, in which doubles tell seconds apart
  if (!(kept.back() <= kMostSeconds)) {
    throw ValueError(fmt::format("arrivals: the last of {} comes after {} s, expected at most {}",
                                 printable(file), kept.back(), kMostSeconds));
  }
  if (!loop) return std::make_unique<RecordedArrivals>(std::move(kept), 0.0);
  const double length = kept.back() - kept.front();
  if (length == 0) {
    throw ValueError(
        fmt::format("arrivals: {} is one moment, which cannot be looped", printable(file)));
  }
  const double round = length + length / double(kept.size() - 1);
  return std::make_unique<RecordedArrivals>(std::move(kept), round);
}

}  // namespace d5
