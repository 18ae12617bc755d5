// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/serving/remote_evaluation.hpp"
#include "apps/serving/server_options.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::command {
namespace {

constexpr const char* kJobShowExamples =
    R"(  d5 job show 3f9ac2d1b7                      progress, and its agents
  d5 job show 3f9ac2d1b7 --follow             wait for its end, then print its results
  d5 job show 3f9ac2d1b7 --manifest           the evaluation of the job)";

struct JobShowOptions : app::OutputOptions {
  std::string server, job;
  bool follow = false, manifest = false;
};

TextTable parts_table(const Job& job) {
  TextTable table({"part", "state", "attempt", "agent", "run", "begun", "ended", "says"});
  for (const auto& part : job.parts) {
    table.add({std::to_string(part.number), std::string(name_of(part.state)),
               std::to_string(part.attempt), part.agent, part.run.substr(0, 8), part.begun,
               part.ended, part.reason.empty() ? part.progress : part.reason});
  }
  table.drop_empty_columns();
  return table;
}

int run_job_show(const JobShowOptions& options) {
  ServingClient client = app::client_of(options.server);
  if (options.follow) return app::follow_evaluation(client, options.job, options);
  const Job job = client.job(options.job);
  if (options.manifest) {
    fmt::print("{}\n", job.manifest);
    return app::kPassed;
  }
  if (!options.quiet) {
    const std::string by = job.owner.empty() ? "" : fmt::format(" by {}", printable(job.owner));
    app::say(fmt::format("job {}, {}, asked for{} {}, is {}", job.id, printable(job.title), by,
                         job.submitted, name_of(job.state)));
    if (!job.waits.empty()) app::say(printable_message(job.waits));
  }
  app::print(parts_table(job), options.format);
  return job.state == JobState::failed || job.state == JobState::quarantined ? app::kFailed
                                                                             : app::kPassed;
}

}  // namespace

void register_job_show(app::Program& program) {
  auto options = std::make_shared<JobShowOptions>();
  auto& command = program.add("job show", "show the progress and results of a job",
                              kJobShowExamples, [options] { return run_job_show(*options); });
  app::add_job_argument(command, options->job);
  command.add_flag("--follow", options->follow, "wait for the job's end, and print its results");
  command.add_flag("--manifest", options->manifest, "print the manifest of the evaluation");
  app::add_server_option(command, options->server);
  app::add_pivot_option(command, *options);
  app::add_format_options(command, *options, app::kRecordFormats);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command
