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
    R"(  d5 job retry 3f9ac2d1b7                    submit the same job again, and print the new id
  d5 job show $(d5 job retry 3f9ac2d1b7) --follow

Failed, cancelled and quarantined jobs can be retried. If the job was retried before, that retry is
returned.)";

struct JobRetryOptions : app::OutputOptions {
  std::string server, job;
};

int run_job_retry(const JobRetryOptions& options) {
  ServingClient client = app::client_of(options.server);
  const auto [job, was_there] = client.retry(options.job);
  if (was_there && !options.quiet) app::say("note: the job was retried before");
  fmt::print("{}\n", printable(job.id));
  return app::kPassed;
}

}  // namespace

void register_job_retry(app::Program& program) {
  auto options = std::make_shared<JobRetryOptions>();
  auto& command = program.add("job retry", "retry a job that failed or was cancelled",
                              kJobRetryExamples, [options] { return run_job_retry(*options); });
  app::add_job_argument(command, options->job);
  app::add_server_option(command, options->server);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
