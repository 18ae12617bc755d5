// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "apps/serving/server_options.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::command {
namespace {

constexpr const char* kJobWhyExamples =
    R"(  d5 job why 3f9ac2d1b7                       each agent: whether it may run the job, or why not)";

struct JobWhyOptions : app::OutputOptions {
  std::string server, job;
};

int run_job_why(const JobWhyOptions& options) {
  ServingClient client = app::client_of(options.server);
  TextTable table({"agent", "state", "fits", "why not"});
  const auto fits = client.why(options.job);
  const std::string waits = client.job(options.job).waits;
  if (!waits.empty() && !options.quiet) app::say(printable_message(waits));
  for (const auto& fit : fits) {
    table.add({fit.agent, std::string(name_of(fit.state)), fit.fits ? "yes" : "no", fit.reason});
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_job_why(app::Program& program) {
  auto options = std::make_shared<JobWhyOptions>();
  auto& command = program.add("job why", "show which agents may run a job, and why others may not",
                              kJobWhyExamples, [options] { return run_job_why(*options); });
  app::add_job_argument(command, options->job);
  app::add_server_option(command, options->server);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
