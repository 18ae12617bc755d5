// SPDX-License-Identifier: Apache-2.0
#include "d5/core/result_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "d5/core/atomic_file.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* kFormat = "d5 journal";

[[noreturn]] void fail(const char* what, const std::string& path) {
  throw IoError(fmt::format("{} '{}': {}", what, printable(path), std::strerror(errno)));
}

FormatError not_a_journal(const std::string& path) {
  return FormatError(fmt::format(
      "'{}' is no journal that d5 wrote; remove it, or choose another --out", printable(path)));
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A device or a pipe; it has no place beside it.
bool is_no_file(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

/// The lines that are whole.
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

}  // namespace

ResultJournal::ResultJournal(const std::string& path, const std::string& how, Begin begin)
    : path_(path), journal_(path_beside(path)) {
  check_writable(path);
  if (is_no_file(path)) return;
  file_ = ::open(journal_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) fail("cannot write", journal_);
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      throw IoError(fmt::format("'{}' is being written by another run; choose another --out",
                                printable(path_)));
    }
    try {
      read(how, begin);
    } catch (const Json::exception&) {
      throw not_a_journal(journal_);
    }
    if (size_ == 0)
      append(line_of({{"format", kFormat}, {"schema", Results::kSchema}, {"how", how}}));
  } catch (...) {
    ::close(file_);
    throw;
  }
}

ResultJournal::~ResultJournal() {
  if (file_ < 0) return;
  if (done_.empty()) ::unlink(journal_.c_str());
  ::close(file_);
}

void ResultJournal::read(const std::string& how, Begin begin) {
  std::int64_t bytes = 0;
  const auto lines = lines_in(read_file(journal_), journal_, bytes);
  if (begin == Begin::resumed && !lines.empty()) {
    if (const std::string before = lines.front().value("how", ""); before != how) {
      throw ValueError(fmt::format(
          "'{}' was begun with '{}', and this is '{}'; give the same options on the same machine, "
          "or measure anew without --resume",
          printable(journal_), printable(before), printable(how)));
    }
    for (const auto& line : lines) {
      if (!line.contains("piece")) continue;
      done_[line.at("piece").get<std::string>()] =
          results_from_json(line.at("results").dump(), journal_).measurements;
    }
    size_ = bytes;
  } else if (lines.size() > 1 && !lines.back().contains("ended")) {
    throw ValueError(fmt::format(
        "'{}' holds {} pieces of a run that was killed; --resume goes on from it, or remove it",
        printable(journal_), lines.size() - 1));
  }
  if (::ftruncate(file_, size_) != 0) fail("cannot write", journal_);
}

void ResultJournal::append(const std::string& line) {
  if (::lseek(file_, size_, SEEK_SET) < 0) fail("cannot write", journal_);
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t count = ::write(file_, line.data() + at, line.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int reason = errno;
      (void)!::ftruncate(file_, size_);
      errno = reason;
      fail("cannot write", journal_);
    }
    at += std::size_t(count);
  }
  size_ += std::int64_t(line.size());
}

const std::vector<Measurement>* ResultJournal::find(const std::string& piece) const {
  const auto place = done_.find(piece);
  return place == done_.end() ? nullptr : &place->second;
}

void ResultJournal::add(const std::string& piece, std::vector<Measurement> records) {
  if (file_ >= 0) {
    const Json results = Json::parse(to_json(Results{{}, records}));
    append(line_of({{"piece", piece}, {"results", results}}));
  }
  done_[piece] = std::move(records);
}

void ResultJournal::finish(const Results& results, End end) {
  try {
    write_results(results, path_);
  } catch (const IoError& error) {
    if (file_ < 0) throw;
    throw IoError(fmt::format("{}; what was measured is in '{}', and --resume goes on from it",
                              error.what(), printable(journal_)));
  }
  if (file_ < 0) return;
  if (end == End::whole) {
    ::unlink(journal_.c_str());
  } else {
    append(line_of({{"ended", true}}));
  }
}

}  // namespace d5
