// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/agent_spool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/parsing/json_reader.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/database/evaluation_database.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;
using detail::AgentOutcome;

constexpr const char* kOutcomeFile = "outcome.json";
constexpr std::size_t kMostOutcomeBytes = std::size_t{1} << 20;

AgentOutcome outcome_in(const fs::path& file) {
  const detail::JsonReader reader(read_file(file.string(), kMostOutcomeBytes), file.string());
  return {AgentOutcome::End(reader.choice("end", detail::kAgentEnds)),
          {reader.text("job"), reader.integer("part"), reader.integer("attempt"), "", ""},
          reader.text("reason")};
}

/// A child writes its results without flushing the disk; they must be durable before the outcome
/// that refers to them.
void sync(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fdatasync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) throw IoError(fmt::format("cannot flush '{}'", printable(file)));
}

}  // namespace

std::string usual_spool(const std::string& name) {
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  if (data && fs::path(data).is_absolute()) return (fs::path(data) / "d5/agents" / name).string();
  if (home && *home) return (fs::path(home) / ".local/share/d5/agents" / name).string();
  throw IoError("there is no folder for an agent's spool: set HOME, or name one");
}

namespace detail {

AgentSpool::AgentSpool(const std::string& folder) : folder_(folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw IoError(fmt::format("'{}' cannot be a spool: {}", printable(folder), error.message()));
  }
  auto lock = FileLock::if_free((fs::path(folder) / "lock").string());
  if (!lock) {
    throw IoError(
        fmt::format("an agent uses '{}' now; give this one another name", printable(folder)));
  }
  lock_.emplace(std::move(*lock));
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory() && !fs::exists(entry.path() / kOutcomeFile)) {
      fs::remove_all(entry.path(), error);
    }
  }
}

std::string AgentSpool::folder(const Lease& lease) const {
  const bool is_name = !lease.job.empty() && std::ranges::all_of(lease.job, [](unsigned char c) {
    return std::isalnum(c) != 0;
  });
  if (!is_name || lease.part < 0) {
    throw FormatError(fmt::format("'{}' is no id of a job", printable(lease.job)));
  }
  return (fs::path(folder_) / fmt::format("{}-{}-{}", lease.job, lease.part, lease.attempt))
      .string();
}

std::vector<AgentOutcome> AgentSpool::outcomes() const {
  std::vector<AgentOutcome> all;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const fs::path file = entry.path() / kOutcomeFile;
    if (fs::exists(file)) all.push_back(outcome_in(file));
  }
  return all;
}

std::string AgentSpool::begin(const Lease& lease) const {
  remove(lease);
  std::string path = folder(lease);
  fs::create_directory(path);
  return path;
}

void AgentSpool::conclude(const AgentOutcome& outcome) const {
  const nlohmann::json json = {{"job", outcome.lease.job},
                               {"part", outcome.lease.part},
                               {"attempt", outcome.lease.attempt},
                               {"end", kAgentEnds.at(std::size_t(outcome.end))},
                               {"reason", outcome.reason}};
  if (outcome.end == AgentOutcome::End::done) sync(results(outcome.lease));
  write_file((fs::path(folder(outcome.lease)) / kOutcomeFile).string(),
             json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void AgentSpool::remove(const Lease& lease) const {
  std::error_code ignored;
  // Removes the outcome last: a half-removed attempt is sent again, or removed as unfinished.
  const fs::path path = folder(lease);
  fs::remove(path / kOutcomeFile, ignored);
  fs::remove_all(path, ignored);
}

std::string AgentSpool::first_failure(const Lease& lease) const {
  const std::string database = results(lease);
  if (database.empty()) return {};
  try {
    const auto results =
        EvaluationDatabase::open(database, {.access = EvaluationDatabase::Access::read});
    const auto failed = results->measurements({.status = "failed"},
                                              EvaluationDatabase::Samples::without, {.limit = 1});
    return failed.items.empty() ? std::string() : printable_message(failed.items[0].record.reason);
  } catch (const Error&) {
    return {};
  }
}

std::string AgentSpool::results(const Lease& lease) const {
  const fs::path file = fs::path(folder(lease)) / kSpooledResults;
  return fs::exists(file) ? file.string() : std::string();
}

}  // namespace detail
}  // namespace d5
