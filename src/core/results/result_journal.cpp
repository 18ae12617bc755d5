// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/result_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "d5 journal";

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw IoError(fmt::format("{} '{}': {}", what, printable(path), std::strerror(errno)));
}

FormatError not_a_journal(const std::string& path) {
  return FormatError(fmt::format("'{}' is not a journal of d5; remove it, or choose another {}",
                                 printable(path), option_word("out")));
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// True for a device or a pipe, beside which there can be no journal.
bool is_no_file(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

/// The complete lines.
std::vector<Json> lines_in(const std::string& text, const std::string& path, std::int64_t& bytes) {
  std::vector<Json> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Json line = Json::parse(text.substr(begin, end - begin), nullptr, false);
    if (!line.is_object() || (lines.empty() && line.value("format", "") != kFormat)) {
      throw not_a_journal(path);
    }
    lines.push_back(std::move(line));
  }
  bytes = std::int64_t(begin);
  return lines;
}

std::string line_of_piece(const std::string& piece, const std::vector<Measurement>& records) {
  return line_of({{"piece", piece}, {"results", Json::parse(to_json(Results{{}, records}))}});
}

void expect_same(const std::string& how, const std::string& before, const std::string& path) {
  if (before == how) return;
  throw ValueError(
      fmt::format("'{}' was begun with '{}', and this is '{}'; give the same options on the same "
                  "machine, or measure again without {}",
                  printable(path), printable(before), printable(how), option_word("resume")));
}

}  // namespace

ResultJournal::ResultJournal(const std::string& path, const std::string& how, Begin begin)
    : path_(path), journal_(path_beside(path)) {
  check_writable(path);
  if (is_no_file(path)) return;
  file_ = ::open(journal_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail("cannot write", journal_);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    throw IoError(fmt::format("'{}' is being written by another run; choose another {}",
                              printable(path_), option_word("out")));
  }
  try {
    try {
      begin == Begin::resumed ? resume(how) : replace();
    } catch (const Json::exception&) {
      throw not_a_journal(journal_);
    }
    if (size_ == 0) {
      unwritten_ =
          line_of({{"format", kFormat}, {"schema", Results::kSchema}, {"how", how}}) + unwritten_;
    }
    if (::ftruncate(file_, size_) != 0) fail("cannot write", journal_);
  } catch (...) {
    close();
    throw;
  }
}

ResultJournal::~ResultJournal() {
  if (file_ >= 0) close();
}

/// Removes an empty journal.
void ResultJournal::close() const {
  struct stat status{};
  if (::fstat(file_, &status) == 0 && status.st_size == 0) ::unlink(journal_.c_str());
  ::close(file_);
}

void ResultJournal::replace() const {
  std::int64_t bytes = 0;
  const auto lines = lines_in(read_file(journal_), journal_, bytes);
  if (lines.size() <= 1 || lines.back().contains("ended")) return;
  throw ValueError(
      fmt::format("'{}' has {} pieces of a killed run; give {} to continue it, or remove it",
                  printable(journal_), lines.size() - 1, option_word("resume")));
}

void ResultJournal::resume(const std::string& how) {
  const auto lines = lines_in(read_file(journal_), journal_, size_);
  if (lines.empty()) return resume_results_file(how);
  expect_same(how, lines.front().value("how", ""), journal_);
  for (const auto& line : lines) {
    if (!line.contains("piece")) continue;
    done_[line.at("piece").get<std::string>()] =
        results_from_json(line.at("results").dump(), journal_).measurements;
  }
}

void ResultJournal::resume_results_file(const std::string& how) {
  if (!fs::exists(path_)) return;
  const Results results = read_results(path_);
  if (!results.run) {
    throw ValueError(
        fmt::format("'{0}' does not list the cases of its records, and {1} cannot go on from "
                    "it; choose another {2}, or measure again without {1}",
                    printable(path_), option_word("resume"), option_word("out")));
  }
  expect_same(how, results.run->how, path_);
  from_results_ = true;
  auto record = results.measurements.begin();
  for (const auto& [name, count] : results.run->pieces) {
    const auto end = record + std::ptrdiff_t(count);
    done_[name] = std::vector<Measurement>(record, end);
    unwritten_ += line_of_piece(name, done_[name]);
    record = end;
  }
}

void ResultJournal::append(const std::string& line) {
  const std::string text = unwritten_ + line;
  if (::lseek(file_, size_, SEEK_SET) < 0) fail("cannot write", journal_);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file_, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int reason = errno;
      (void)!::ftruncate(file_, size_);
      errno = reason;
      fail("cannot write", journal_);
    }
    at += std::size_t(count);
  }
  size_ += std::int64_t(text.size());
  unwritten_.clear();
}

const std::vector<Measurement>* ResultJournal::find(const std::string& piece) const {
  const auto place = done_.find(piece);
  return place == done_.end() ? nullptr : &place->second;
}

void ResultJournal::add(const std::string& piece, std::vector<Measurement> records) {
  if (file_ >= 0) append(line_of_piece(piece, records));
  done_[piece] = std::move(records);
}

void ResultJournal::finish(Results results, End end) {
  add_others(results);
  try {
    write_results(results, path_);
  } catch (const IoError& error) {
    if (file_ < 0 || size_ == 0) throw;  // no earlier pieces to keep
    throw IoError(fmt::format("{}; the measurements are in '{}', and {} resumes them", error.what(),
                              printable(journal_), option_word("resume")));
  }
  if (file_ < 0) return;
  if (end == End::whole) {
    ::unlink(journal_.c_str());
  } else if (!done_.empty()) {
    append(line_of({{"ended", true}}));
  }
}

void ResultJournal::add_others(Results& results) const {
  if (!results.run) return;
  auto& pieces = results.run->pieces;
  std::size_t told = 0;
  for (const auto& piece : pieces) told += piece.records;
  for (const auto& [name, records] : done_) {
    if (std::ranges::find(pieces, name, &PiecewiseRun::Piece::name) != pieces.end()) continue;
    pieces.push_back({name, records.size()});
    auto& all = results.measurements;
    all.insert(all.begin() + std::ptrdiff_t(told), records.begin(), records.end());
    told += records.size();
  }
}

}  // namespace d5
