// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/mixture_model.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "level1_network/mixture/cheapest_assignment.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Infinite if the framework cannot reorder the tensor.
double reorder_seconds(const TensorDesc& from, const TrialBench& bench) try {
  constexpr int kRuns = 5;
  TensorDesc to = from;
  to.layout = Layout::row_major;
  to.arrangement = nullptr;
  const auto kernel =
      framework(from.arrangement->framework()).part<OperatorRegistry>().reorder(from, to);
  onnx::Node node;
  node.op_type = "Reorder";
  const Value input = Tensor::empty(from);
  Value output = Tensor::empty(to);
  const Value* inputs[] = {&input};
  Value* outputs[] = {&output};
  OpContext context;
  context.inputs = inputs;
  context.outputs = outputs;
  context.context_node = &node;
  double shortest = kNever;
  for (int run = 0; run < kRuns; ++run) {
    const double begin = bench.clock();
    kernel->forward(context);
    if (run > 0) shortest = std::min(shortest, bench.clock() - begin);
  }
  return shortest;
} catch (const Unsupported&) {
  return kNever;
}

}  // namespace

MixtureModel::MixtureModel(KernelRace& race, const TrialBench& bench) : race_(race) {
  for (std::size_t n = 0; n < race.nodes(); ++n) choices_.push_back(race.frameworks(n));
  find_edges(*race.runners().front().trial);
  for (auto& runner : race.runners()) measure_reorders(runner, bench);
}

void MixtureModel::find_edges(const PlanTrial& trial) {
  std::map<std::string, std::size_t> writers;
  for (std::size_t n = 0; n < trial.nodes(); ++n) {
    const onnx::Node& node = trial.info(n).node;
    std::set<std::size_t> read;
    for (const auto& name : read_names(node)) {
      const auto writer = writers.find(name);
      if (writer == writers.end() || !read.insert(writer->second).second) continue;
      edges_.push_back({writer->second, n, name});
    }
    for (const auto& output : node.outputs) writers[output] = n;
  }
}

void MixtureModel::measure_reorders(KernelRace::Runner& runner, const TrialBench& bench) {
  std::vector<std::pair<TensorDesc, double>> known;
  for (const Edge& edge : edges_) {
    const StepInfo& info = runner.trial->info(edge.from);
    const auto& names = info.node.outputs;
    const auto k = std::size_t(std::ranges::find(names, edge.tensor) - names.begin());
    const auto& outputs = runner.trial->plan().forward[info.step].context.outputs;
    if (k >= outputs.size() || !outputs[k] || !outputs[k]->is_tensor()) continue;
    const TensorDesc desc = outputs[k]->tensor().desc();
    if (!desc.arrangement) continue;
    auto like = std::ranges::find(known, desc, [](const auto& one) { return one.first; });
    if (like == known.end()) {
      like = known.insert(known.end(), {desc, reorder_seconds(desc, bench)});
    }
    leaving_[{edge.tensor, runner.framework}] = like->second;
  }
}

double MixtureModel::leaving(const Edge& edge, const std::string& framework) const {
  const auto place = leaving_.find({edge.tensor, framework});
  return place == leaving_.end() ? 0 : place->second;
}

double MixtureModel::entering(std::size_t edge, const std::string& from,
                              const std::string& to) const {
  if (from == to) return 0;
  if (const auto seen = seen_.find({edge, from, to}); seen != seen_.end()) return seen->second;
  const auto change = switches_.find({from, to});
  // This transfer has no measurement: the way into an arrangement is assumed as long as the way
  // out.
  return leaving(edges_[edge], to) + (change == switches_.end() ? 0 : change->second);
}

std::vector<std::string> MixtureModel::cheapest() const {
  AssignmentProblem problem;
  for (std::size_t n = 0; n < choices_.size(); ++n) {
    auto& costs = problem.costs.emplace_back();
    for (const auto& framework : choices_[n]) costs.push_back(race_.seconds(n, framework));
    if (costs.empty()) costs.push_back(0);  // the first framework
  }
  const auto name = [&](std::size_t n, std::size_t choice) -> const std::string& {
    static const std::string nobody;
    return choices_[n].empty() ? nobody : choices_[n][choice];
  };
  // A tensor is made row-major once for all its readers elsewhere. This is a variable of its own,
  // whose choices are its writer's, each without and with the row-major copy.
  std::map<std::string, std::size_t> rows;
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const auto& [from, to, tensor] = edges_[e];
    const std::size_t writers = problem.costs[from].size(), readers = problem.costs[to].size();
    const auto [place, is_new] = rows.try_emplace(tensor, problem.costs.size());
    if (is_new) {
      auto& costs = problem.costs.emplace_back();
      auto& link = problem.links.emplace_back(AssignmentProblem::Link{from, place->second, {}});
      for (std::size_t i = 0; i < writers; ++i) {
        costs.push_back(0);
        costs.push_back(leaving(edges_[e], name(from, i)));
        for (std::size_t w = 0; w < 2 * writers; ++w) link.costs.push_back(w / 2 == i ? 0 : kNever);
      }
    }
    auto& link = problem.links.emplace_back(AssignmentProblem::Link{place->second, to, {}});
    for (std::size_t w = 0; w < 2 * writers; ++w) {
      for (std::size_t j = 0; j < readers; ++j) {
        const std::string &one = name(from, w / 2), &other = name(to, j);
        const bool stuck = one != other && w % 2 == 0 && leaving(edges_[e], one) > 0;
        link.costs.push_back(stuck ? kNever : entering(e, one, other));
      }
    }
  }
  const auto chosen = cheapest_assignment(problem);
  std::vector<std::string> result;
  for (std::size_t n = 0; n < choices_.size(); ++n) result.push_back(name(n, chosen[n]));
  return result;
}

void MixtureModel::learn(const std::vector<std::string>& frameworks,
                         const std::vector<double>& seconds) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> changes;
  std::set<std::size_t> explained;  // nodes: what came on top counts at one edge
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    const auto& [from, to, tensor] = edges_[e];
    const std::string &one = frameworks[from], &other = frameworks[to];
    if (one == other || one.empty() || other.empty()) continue;
    double more = 0;
    if (explained.insert(to).second) {
      more = seconds[to] - race_.seconds(to, other) - leaving(edges_[e], one);
      changes[{one, other}].push_back(more - leaving(edges_[e], other));
    }
    seen_[{e, one, other}] = std::max(0.0, more);
  }
  for (const auto& [pair, samples] : changes) {
    switches_[pair] = std::max(0.0, summarise(samples).median);
  }
}

}  // namespace d5
