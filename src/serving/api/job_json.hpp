// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/serving/jobs/job_queue.hpp"
#include "serving/api/json_answer.hpp"

namespace d5::detail {

[[nodiscard]] AnswerJson to_json(const Job& job);
[[nodiscard]] AnswerJson to_json(const JobEvent& event);
[[nodiscard]] AnswerJson to_json(const StandingAgent& agent);
[[nodiscard]] AnswerJson to_json(const AgentFit& fit);

/// Reads the request {"manifest": ..., "on": ..., "constraints": {...}, "priority": ...}. Throws:
/// FormatError, and what `job_request` throws.
[[nodiscard]] JobRequest asked_job(const HttpRequest& request);

/// 201 for a new job, with its address; 200 for one that was submitted before.
[[nodiscard]] HttpResponse submitted_answer(const SubmittedJob& submitted);

/// Server-sent events (WHATWG HTML, "Server-sent events") of a job, or of all jobs if it is empty,
/// after the last one that the client has seen: `Last-Event-ID`, or ?after=. The stream of one job
/// ends when the job is over.
[[nodiscard]] HttpResponse job_events_answer(JobQueue& queue, const std::string& job,
                                             const HttpRequest& request);

}  // namespace d5::detail
