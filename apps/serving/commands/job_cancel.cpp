// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/serving/server_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kJobCancelExamples =
    R"(  d5 job cancel 3f9ac2d1b7                    its agents stop; results that they sent stay)";

struct JobCancelOptions : app::OutputOptions {
  std::string server, job;
};

int run_job_cancel(const JobCancelOptions& options) {
  ServingClient client = app::client_of(options.server);
  const bool was_under_way = client.cancel(options.job);
  if (!options.quiet) {
    app::say(was_under_way ? "cancelled" : "note: the job was over already");
  }
  return app::kPassed;
}

}  // namespace

void register_job_cancel(app::Program& program) {
  auto options = std::make_shared<JobCancelOptions>();
  auto& command = program.add("job cancel", "cancel a job of a server", kJobCancelExamples,
                              [options] { return run_job_cancel(*options); });
  app::add_job_argument(command, options->job);
  app::add_server_option(command, options->server);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command
