// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/serving/jobs/agent_facts.hpp"
#include "d5/serving/jobs/job_state.hpp"

namespace d5 {

/// What a machine must have for a job; what is left out may be any.
struct JobConstraints {
  std::map<std::string, std::string> frameworks = {};  ///< name to a `VersionRange`, "" for any
  std::string architecture = {};                       ///< "x86_64"
  std::int64_t cores = 0;                              ///< at least
  std::int64_t memory_bytes = 0;                       ///< at least
  std::vector<std::string> instruction_sets = {};      ///< "avx2"
  std::string device = {};                             ///< "cuda:0", or "cuda" for any of these
  std::map<std::string, std::string> labels = {};
  double most_per_hour = 0;              ///< its price, at most; 0: any
  std::vector<std::string> agents = {};  ///< by name, one of these
  bool operator==(const JobConstraints&) const = default;
};

[[nodiscard]] std::string to_json(const JobConstraints& constraints);
/// Throws: FormatError, with `who` in front: for keys that it does not know too, and for ranges
/// that are none.
[[nodiscard]] JobConstraints job_constraints(const std::string& json, const std::string& who);

/// Empty where an agent fits, or else all that it lacks.
[[nodiscard]] std::string why_not(const JobConstraints& constraints, const AgentFacts& facts);

/// An evaluation that somebody asks for.
struct JobRequest {
  std::string manifest;    ///< canonical JSON that needs nothing else (`FixedEvaluation`)
  std::string key = {};    ///< of the evaluation; empty: the SHA-256 of `manifest`
  std::string on = "one";  ///< how many agents run it: "one", a number, or "all" that fit now
  JobConstraints constraints = {};
  std::int64_t priority = 0;  ///< higher ones go first
  std::string owner = {};     ///< whose token asks for it; empty: a server without tokens
};

/// What one agent does of a job.
struct JobPart {
  std::int64_t number = 0;  ///< from 0
  JobState state = JobState::queued;
  std::int64_t attempt = 0;   ///< how often it was leased; what an earlier attempt sends is refused
  std::int64_t losses = 0;    ///< attempts that lapsed or crashed
  std::string agent = {};     ///< that has it, or had it at the end
  std::string wanted = {};    ///< the one agent that may have it; empty: any that fits
  std::string run = {};       ///< the id under which its results are kept
  std::string reason = {};    ///< why it failed, was put back, or was quarantined
  std::string progress = {};  ///< what its agent said last
  std::string leased = {}, begun = {}, ended = {};  ///< ISO 8601, UTC; empty: not yet
};

struct Job {
  std::string id;
  std::string key;
  std::string title = {};     ///< what it is about (`evaluation_title`)
  std::string manifest = {};  ///< empty in lists
  std::string on;
  JobConstraints constraints = {};
  std::int64_t priority = 0;
  std::string submitted;   ///< ISO 8601, UTC
  std::string owner = {};  ///< who asked for it first; empty where nobody had a token
  /// That of its parts, where they are one. Of several, until all are over, that of the one which
  /// is furthest; then failed, quarantined, cancelled or done, the first that one of them is.
  JobState state = JobState::queued;
  std::vector<JobPart> parts = {};
};

/// Something that happened to a job. Numbers go up without a gap, in the order in which they can be
/// seen: who has seen all to a number misses nothing by asking for those after it.
struct JobEvent {
  std::int64_t number = 0;
  std::string time;  ///< ISO 8601, UTC
  std::string job;
  JobState state = JobState::queued;  ///< of the job, from then on
  std::int64_t part = -1;             ///< -1: of the job as a whole
  JobState part_state = JobState::queued;
  std::string agent = {}, text = {};
};

/// Whether an agent could have a job.
struct AgentFit {
  std::string agent;
  bool fits = false;
  std::string reason = {};  ///< why not
  StandingAgent::State state = StandingAgent::State::free;
};

/// The id under which the results of a part are kept: the same for all its attempts, so that it is
/// there once.
[[nodiscard]] std::string run_of_part(const std::string& job, std::int64_t part);

}  // namespace d5
