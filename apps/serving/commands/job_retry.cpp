// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/serving/server_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kJobRetryExamples =
    R"(  d5 job retry 3f9ac2d1b7                    asks for the same anew, and prints the new job's id
  d5 job show $(d5 job retry 3f9ac2d1b7) --follow

A job is tried again that failed, was cancelled or quarantined; if somebody did so before, it is that one's.)";

struct JobRetryOptions : app::OutputOptions {
  std::string server, job;
};

int run_job_retry(const JobRetryOptions& options) {
  ServingClient client = app::client_of(options.server);
  const auto [job, was_there] = client.retry(options.job);
  if (was_there && !options.quiet) app::say("note: it was asked for anew before");
  fmt::print("{}\n", printable(job.id));
  return app::kPassed;
}

}  // namespace

void register_job_retry(app::Program& program) {
  auto options = std::make_shared<JobRetryOptions>();
  auto& command = program.add("job retry", "ask anew for what failed or was cancelled",
                              kJobRetryExamples, [options] { return run_job_retry(*options); });
  command.add_option("JOB", options->job, "its id ('d5 job list')")->required();
  app::add_server_option(command, options->server);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
