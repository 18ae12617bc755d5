// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "d5/serving/jobs/agent_facts.hpp"
#include "d5/serving/jobs/job_state.hpp"

namespace d5 {

/// Requirements of a job for its machine; an empty field matches any.
struct JobConstraints {
  std::map<std::string, std::string> frameworks = {};  ///< name to a `VersionRange`, "" for any
  std::string architecture = {};                       ///< "x86_64"
  std::int64_t cores = 0;                              ///< minimum
  std::int64_t memory_bytes = 0;                       ///< minimum
  std::vector<std::string> instruction_sets = {};      ///< "avx2"
  std::string device = {};                             ///< "cuda:0", or "cuda" for any of these
  std::map<std::string, std::string> labels = {};
  double most_per_hour = 0;              ///< maximum price; 0: any
  std::vector<std::string> agents = {};  ///< by name, one of these
  bool operator==(const JobConstraints&) const = default;
};

[[nodiscard]] std::string to_json(const JobConstraints& constraints);
/// Throws: FormatError, with `who` at its front, also for unknown keys and invalid ranges.
[[nodiscard]] JobConstraints job_constraints(const std::string& json, const std::string& who);

/// Everything that an agent lacks; empty if it fits.
[[nodiscard]] std::string why_not(const JobConstraints& constraints, const AgentFacts& facts);

/// A submitted evaluation.
struct JobRequest {
  std::string manifest;    ///< canonical, self-contained JSON (`FixedEvaluation`)
  std::string key = {};    ///< key of the evaluation; empty: the SHA-256 of `manifest`
  std::string on = "one";  ///< number of agents: "one", a number, or "all" that fit now
  JobConstraints constraints = {};
  std::int64_t priority = 0;  ///< higher ones run first
  std::string owner = {};     ///< name of the submitter's token; empty: a server without tokens
};

/// The work of one agent for a job.
struct JobPart {
  std::int64_t number = 0;  ///< from 0
  JobState state = JobState::queued;
  std::int64_t attempt = 0;   ///< number of leases; results of earlier attempts are refused
  std::int64_t losses = 0;    ///< attempts that lapsed or crashed
  std::string agent = {};     ///< the agent that has it, or finished it
  std::string wanted = {};    ///< the only agent that may have it; empty: any that fits
  std::string run = {};       ///< the id of its results
  std::string reason = {};    ///< why it failed, was put back, or was quarantined
  std::string progress = {};  ///< its agent's last message
  std::string leased = {}, begun = {}, ended = {};  ///< ISO 8601, UTC; empty: not yet
};

struct Job {
  std::string id;
  std::string key;
  std::string title = {};     ///< its subject (`evaluation_title`)
  std::string manifest = {};  ///< empty in lists
  std::string on;
  JobConstraints constraints = {};
  std::int64_t priority = 0;
  std::string submitted;   ///< ISO 8601, UTC
  std::string owner = {};  ///< first submitter; empty without tokens
  /// The state of its parts if there is one. With several, until all are over, that of the most
  /// advanced; then the first of failed, quarantined, cancelled and done that a part has.
  JobState state = JobState::queued;
  std::string waits = {};  ///< why no agent can take it now; empty: one can, or it is not queued
  std::vector<JobPart> parts = {};
};

/// An event of a job. Numbers increase without gaps, in the order in which events become visible:
/// after all events up to a number, asking for later ones misses nothing.
struct JobEvent {
  std::int64_t number = 0;
  std::string time;  ///< ISO 8601, UTC
  std::string job;
  JobState state = JobState::queued;  ///< state of the job from then on
  std::int64_t part = -1;             ///< -1: the job as a whole
  JobState part_state = JobState::queued;
  std::string agent = {}, text = {};
};

/// Whether an agent could run a job.
struct AgentFit {
  std::string agent;
  bool fits = false;
  std::string reason = {};  ///< why not
  StandingAgent::State state = StandingAgent::State::free;
};

/// The id of a part's results. It is the same for all attempts, so that results are stored once.
[[nodiscard]] std::string run_of_part(const std::string& job, std::int64_t part);

}  // namespace d5
