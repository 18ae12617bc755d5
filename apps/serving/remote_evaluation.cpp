// SPDX-License-Identifier: Apache-2.0
#include "apps/serving/remote_evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "apps/ctrl_c.hpp"
#include "apps/evaluation/evaluation_options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/work_list.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::app {
namespace {

std::string event_words(const JobEvent& event) {
  const JobState state = event.part < 0 ? event.state : event.part_state;
  std::string words(name_of(state));
  if (!event.agent.empty()) words += " on " + printable(event.agent);
  if (!event.text.empty() && event.text != name_of(state))
    words += ": " + printable_message(event.text);
  return words;
}

/// The results of all parts, piece by piece; with several agents, each record has its agent as a
/// condition.
std::vector<Results> pieces_of(ServingClient& client, const Job& job) {
  std::vector<Results> all;
  for (const auto& part : job.parts) {
    if (part.run.empty() || part.state != JobState::done) continue;
    for (Results& piece : client.pieces(part.run)) {
      if (job.parts.size() > 1) {
        for (auto& record : piece.measurements) record.conditions["agent"] = finding(part.agent);
      }
      all.push_back(std::move(piece));
    }
  }
  return all;
}

Results in_one(const std::vector<Results>& pieces) {
  Results all;
  for (const Results& piece : pieces) {
    if (all.measurements.empty()) all.environment = piece.environment;
    std::ranges::copy(piece.measurements, std::back_inserter(all.measurements));
  }
  return all;
}

}  // namespace

int follow_evaluation(ServingClient& client, const std::string& job, const OutputOptions& output) {
  try {
    client.follow(job, [&](const JobEvent& event) {
      if (!output.quiet) say(event_words(event));
    });
  } catch (const Interrupted&) {
    say(
        fmt::format("the server continues; 'd5 job show {0} --follow' follows it again, 'd5 job "
                    "cancel {0}' ends it",
                    printable(job)));
    return interrupted_status();
  }
  const Job over = client.job(job);
  const std::vector<Results> pieces = pieces_of(client, over);
  const Results results = in_one(pieces);
  if (!output.out.empty()) {
    write_results(results, output.out);
    say_written(output);
  }
  if (!results.measurements.empty()) print_pieces(pieces, results, output, evaluation_summary);
  for (const auto& part : over.parts) {
    if (part.state == JobState::done) continue;
    say(fmt::format("part {} is {}{}{}", part.number, name_of(part.state),
                    part.reason.empty() ? "" : ": ", printable_message(part.reason)));
  }
  const int status = exit_status(results.measurements, output.if_unsupported);
  return over.state == JobState::done ? status : kFailed;
}

int run_remotely(ServingClient& client, const std::string& manifest, const std::string& on,
                 const OutputOptions& output) {
  check_output(output);
  const auto [job, was_there] = client.submit(manifest, on);
  if (!output.quiet) {
    say(fmt::format("job {}{}", job.id, was_there ? " was asked for before" : ""));
  }
  return follow_evaluation(client, job.id, output);
}

}  // namespace d5::app
