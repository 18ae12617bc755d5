// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "d5/prediction/networks/cluster_description.hpp"

namespace d5::command {
namespace {

constexpr const char* kClusterListExamples =
    R"(  d5 cluster list
  d5 cluster list --format json
  d5 cluster show ethernet-10g    each of its numbers, and its source)";

int run_cluster_list(const app::OutputOptions& options) {
  TextTable table(
      {"name", "summary", "hosts", "ranks a host", "topology", "latency (s)", "bandwidth (B/s)"});
  for (const auto& name : carried_clusters()) {
    const ClusterDescription cluster = load_cluster_description(name);
    table.add({name, cluster.summary, fmt::format("{}", cluster.hosts),
               fmt::format("{}", cluster.ranks_per_host), cluster.topology,
               fmt::format("{}", cluster.latency.value),
               fmt::format("{}", cluster.bandwidth.value)});
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_cluster_list(app::Program& program) {
  auto options = std::make_shared<app::OutputOptions>();
  auto& command =
      program.add("cluster list", "list the built-in descriptions of clusters",
                  kClusterListExamples, [options] { return run_cluster_list(*options); });
  app::add_format_options(command, *options);
}

}  // namespace d5::command
