// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "d5/prediction/networks/cluster_description.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/planned_run.hpp"

namespace d5::command {
namespace {

constexpr const char* kClusterShowExamples =
    R"(  d5 cluster show ethernet-10g    each of its numbers, and its source
  d5 cluster show mine.yaml --ranks 2,8,64 --all-reduce ring,rabenseifner --bytes 100MB
                                  also simulated times of all-reduces: from latency and bandwidth
                                  alone (closed), and with contention at ports (ports)

Simulated ranks compute nothing: additions take no time.)";

struct ClusterShowOptions : app::OutputOptions {
  std::string cluster;
  std::int64_t bytes = 100'000'000;
  std::vector<int> ranks;
  std::vector<std::string> all_reduces = {"mpi", "ring"}, models = {"closed", "ports"};
};

TextTable figures(const ClusterDescription& cluster) {
  TextTable table({"what", "value", "unit", "source"});
  const auto add = [&](const char* what, const ClusterFigure& figure, const char* unit) {
    if (figure.source.empty()) return;
    table.add({what, fmt::format("{:.9g}", figure.value), unit, figure.source});
  };
  table.add({"hosts", fmt::format("{}", cluster.hosts), "", ""});
  table.add({"ranks a host", fmt::format("{}", cluster.ranks_per_host), "", ""});
  table.add({"topology", cluster.topology, "", ""});
  add("latency", cluster.latency, "s");
  add("bandwidth", cluster.bandwidth, "B/s");
  add("overhead", cluster.overhead, "s");
  add("look", cluster.look, "s");
  add("signal", cluster.signal, "s");
  add("end_bandwidth", cluster.end_bandwidth, "B/s");
  add("host_latency", cluster.host_latency, "s");
  add("host_bandwidth", cluster.host_bandwidth, "B/s");
  add("copy_bandwidth", cluster.copy_bandwidth, "B/s");
  if (cluster.nics > 1) table.add({"nics a host", fmt::format("{}", cluster.nics), "", ""});
  for (const ClusterLevel& level : cluster.levels) {
    const std::string of = fmt::format("{} hosts a switch: ", level.hosts);
    table.add({of + "latency above", fmt::format("{:.9g}", level.latency), "s", level.source});
    table.add(
        {of + "oversubscription", fmt::format("{:.9g}", level.oversubscription), "", level.source});
  }
  for (const ClusterSegment& segment : cluster.segments) {
    const std::string from = fmt::format("from {} B: ", segment.bytes);
    table.add({from + "latency", fmt::format("{:.9g}", segment.latency), "s", segment.source});
    table.add(
        {from + "bandwidth", fmt::format("{:.9g}", segment.bandwidth), "B/s", segment.source});
  }
  return table;
}

double all_reduce_seconds(const ClusterDescription& cluster, int ranks,
                          const std::string& algorithm, const std::string& model,
                          std::int64_t bytes) {
  SimulationOptions options;
  options.model = {model};
  const auto one = all_reduces().at(algorithm).make();
  const auto* planned = dynamic_cast<const PlannedAllReduce*>(one.get());
  if (planned && cluster.look.value == 0) {
    const auto rounds = [&](int rank) {
      return planned->rounds({.rank = rank, .ranks = ranks, .elements = bytes / 4});
    };
    return simulate_rounds(ranks, cluster, rounds, 4, options).seconds;
  }
  const auto reduce = [&](SimulatedRank&, const std::shared_ptr<Communicator>& all) {
    Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
    all_reduces().at(algorithm).make()->start(*all, data)->wait();
  };
  return run_simulated(ranks, cluster, reduce, options).seconds;
}

int run_cluster_show(const ClusterShowOptions& options) {
  const ClusterDescription cluster = load_cluster_description(options.cluster);
  for (const auto& name : options.all_reduces) {
    (void)all_reduces().at(name);
    if (name != "auto") continue;
    throw ValueError(
        "cluster show: all-reduce 'auto' tries others in its first calls, which is no time of an "
        "all-reduce; name those to compare");
  }
  for (const auto& name : options.models) (void)find_simulated_network(name);
  const bool people = is_for_people(options.format);
  if (people) {
    app::print_wrapped(
        fmt::format("{}: {}\n\n", printable(cluster.name), printable(cluster.summary)));
  }
  if (people || options.ranks.empty()) app::print(figures(cluster), options.format);
  if (options.ranks.empty()) return app::kPassed;
  if (people) fmt::print("\n");
  TextTable table({"all-reduce", "bytes", "ranks", "network", "seconds"});
  for (const auto& algorithm : options.all_reduces) {
    for (const int ranks : options.ranks) {
      for (const auto& model : options.models) {
        table.add({algorithm, fmt::format("{}", options.bytes), fmt::format("{}", ranks), model,
                   fmt::format("{:.6g}", all_reduce_seconds(cluster, ranks, algorithm, model,
                                                            options.bytes))});
      }
    }
  }
  app::print(table, options.format);
  return app::kPassed;
}

}  // namespace

void register_cluster_show(app::Program& program) {
  auto options = std::make_shared<ClusterShowOptions>();
  auto& command =
      program.add("cluster show", "show a cluster's numbers, and simulate all-reduces on it",
                  kClusterShowExamples, [options] { return run_cluster_show(*options); });
  command
      .add_option("CLUSTER", options->cluster,
                  "built-in description ('d5 cluster list'), or a file of your own")
      ->required();
  command.add_option("--ranks", options->ranks, "numbers of ranks to simulate all-reduces between")
      ->delimiter(',')
      ->transform(app::whole_number(1))
      ->option_text("N,...");
  command
      .add_option("--all-reduce", options->all_reduces,
                  "algorithms to simulate ('d5 list all-reduces')")
      ->delimiter(',')
      ->capture_default_str()
      ->option_text("NAME,...");
  command
      .add_option("--model", options->models,
                  "models of the network's time ('d5 list simulated-networks')")
      ->delimiter(',')
      ->capture_default_str()
      ->option_text("NAME,...");
  command.add_option("--bytes", options->bytes, "size of the data")
      ->transform(app::bytes())
      ->capture_default_str()
      ->option_text("SIZE");
  app::add_format_options(command, *options);
}

}  // namespace d5::command
