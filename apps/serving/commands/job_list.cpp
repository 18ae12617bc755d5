// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/serving/server_options.hpp"

namespace d5::command {
namespace {

constexpr const char* kJobListExamples =
    R"(  d5 job list                                jobs of a server, newest first
  d5 job list --state queued,running --limit 200
  d5 job list --server https://bench.example:8500)";

struct JobListOptions : app::OutputOptions {
  std::string server;
  std::vector<std::string> states;
  std::size_t limit = 50;
};

TextTable jobs_table(const std::vector<Job>& jobs) {
  TextTable table({"submitted", "job", "evaluation", "state", "owner", "agents", "says"});
  for (const auto& job : jobs) {
    std::string agents, says = job.waits;
    for (const auto& part : job.parts) {
      if (!part.agent.empty()) agents += (agents.empty() ? "" : ", ") + part.agent;
      if (says.empty()) says = part.reason.empty() ? part.progress : part.reason;
    }
    table.add({job.submitted, job.id, job.title.empty() ? job.key.substr(0, 8) : job.title,
               std::string(name_of(job.state)), job.owner, agents, says});
  }
  table.drop_empty_columns();
  return table;
}

int run_job_list(const JobListOptions& options) {
  JobFilter filter;
  for (const auto& word : options.states) filter.states.push_back(job_state(word));
  ServingClient client = app::client_of(options.server);
  app::print(jobs_table(client.jobs(filter, "", options.limit).items), options.format);
  return app::kPassed;
}

}  // namespace

void register_job_list(app::Program& program) {
  auto options = std::make_shared<JobListOptions>();
  auto& command = program.add("job list", "list the jobs of a server", kJobListExamples,
                              [options] { return run_job_list(*options); });
  command
      .add_option("--state", options->states,
                  "states to show: queued, leased, running, done, failed, cancelled, quarantined")
      ->delimiter(',')
      ->option_text("STATE,...");
  command.add_option("--limit", options->limit, "maximum number of jobs to show")
      ->check(CLI::Range(1, 1000))
      ->option_text("N");
  app::add_server_option(command, options->server);
  app::add_format_options(command, *options);
}

}  // namespace d5::command
