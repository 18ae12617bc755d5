// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/library_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5::detail {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<double> decimal_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

constexpr double kNsOfMs = 1e6;

/// A line has its begin, and its duration as the last number, both in ms.
std::optional<TraceRecord> span_of(std::string_view line, std::int64_t clock_ns) {
  const auto parts = split(line, ',');
  if (parts.size() < 8 || parts[0] != "onednn_verbose") return std::nullopt;
  const auto exec = std::ranges::find(parts, "exec");
  if (parts.end() - exec < 5) return std::nullopt;
  std::optional<double> moment;
  for (auto part = parts.begin() + 1; part != exec && !moment; ++part) moment = decimal_in(*part);
  const auto took = decimal_in(parts.back());
  if (!moment || !took) return std::nullopt;
  TraceRecord record;
  record.kind = TraceRecord::Kind::overlapping;
  record.level = "library";
  record.name = "oneDNN " + std::string(exec[2]);
  record.begin_ns = std::llround(*moment * kNsOfMs) + clock_ns;
  record.end_ns = record.begin_ns + std::llround(*took * kNsOfMs);
  record.arguments = {{"engine", std::string(exec[1])},
                      {"implementation", std::string(exec[3])},
                      {"problem", std::string(parts[parts.size() - 2])}};
  return record;
}

/// Offset between times since 1970 on the system's clock and the trace's clock.
std::int64_t monotonic_minus_system() {
  using namespace std::chrono;
  return Trace::now_ns() -
         duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<TraceRecord> onednn_spans(std::string_view text, std::int64_t clock_ns) {
  std::vector<TraceRecord> spans;
  for (const std::string_view line : split(text, '\n')) {
    if (auto span = span_of(line, clock_ns)) spans.push_back(std::move(*span));
  }
  return spans;
}

LibraryLines::LibraryLines() {
  for (const char* name : {"ONEDNN_VERBOSE", "DNNL_VERBOSE"}) setenv(name, "1", 1);
  for (const char* name : {"ONEDNN_VERBOSE_TIMESTAMP", "DNNL_VERBOSE_TIMESTAMP"}) {
    setenv(name, "1", 1);
  }
  std::fflush(stdout);
  file_ = memfd_create("d5 library lines", MFD_CLOEXEC);
  before_ = file_ < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (before_ >= 0 && dup2(file_, STDOUT_FILENO) >= 0) return;
  const int error = errno;
  if (before_ >= 0) close(before_);
  if (file_ >= 0) close(file_);
  throw IoError(fmt::format("trace level library: nothing can be kept of what is printed: {}",
                            std::strerror(error)));
}

LibraryLines::~LibraryLines() {
  std::fflush(stdout);
  dup2(before_, STDOUT_FILENO);
  close(before_);
  close(file_);
}

void LibraryLines::add_to(Timeline& timeline) const {
  std::fflush(stdout);
  struct stat status{};
  if (fstat(file_, &status) != 0) return;
  std::string text(std::size_t(status.st_size), '\0');
  text.resize(std::size_t(std::max<ssize_t>(0, pread(file_, text.data(), text.size(), 0))));
  std::vector<const TraceRecord*> predicts;  // by begin, like all records
  std::uint64_t last_id = 0;
  for (const TraceRecord& record : timeline.records) {
    if (record.name == "predict") predicts.push_back(&record);
    last_id = std::max(last_id, record.id);
  }
  std::vector<TraceRecord> added;
  for (TraceRecord& span : onednn_spans(text, monotonic_minus_system())) {
    const auto after = std::ranges::upper_bound(
        predicts, span.begin_ns, {}, [](const TraceRecord* one) { return one->begin_ns; });
    if (after == predicts.begin()) continue;  // a warm-up call
    const TraceRecord& predict = **std::prev(after);
    constexpr std::int64_t kRounding = 1'000'000;  // ns: some versions print whole milliseconds
    if (span.begin_ns > predict.end_ns + kRounding) continue;
    span.id = ++last_id;
    span.parent = predict.id;
    span.rank = predict.rank;
    span.lane = predict.lane;
    added.push_back(std::move(span));
  }
  timeline.records.insert(timeline.records.end(), std::make_move_iterator(added.begin()),
                          std::make_move_iterator(added.end()));
  timeline.sort();
}

}  // namespace d5::detail
