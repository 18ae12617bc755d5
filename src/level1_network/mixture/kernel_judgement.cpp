// SPDX-License-Identifier: Apache-2.0
// Finds kernels of a race whose results differ from the others'.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/interrupts/interrupt.hpp"
#include "level1_network/mixture/kernel_race.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

constexpr const char* kJudge = "reference";
/// Gradients this small relative to the largest may be rounding error alone, as those of the bias
/// before a normalization, which are zero.
constexpr double kLeastGradient = 1e-5;

using Sketches = PlanTrial::Sketches;

bool differ(const Sketches& a, const Sketches& b, double least) {
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    if (a[k] && b[k] && differ_grossly(*a[k], *b[k], least)) return true;
  }
  return false;
}

double largest_gradient(const PlanTrial& trial) {
  double largest = 0;
  for (std::size_t n = 0; n < trial.nodes(); ++n) {
    for (const auto& gradient : trial.gradients(n)) {
      if (gradient && gradient->finite) largest = std::max(largest, gradient->root_mean_square);
    }
  }
  return largest;
}

}  // namespace

/// The first difference in execution order; later ones may follow from it.
std::optional<KernelRace::Difference> KernelRace::difference(const PlanTrial& a,
                                                             const PlanTrial& b) const {
  for (std::size_t n = 0; n < groups_.size(); ++n) {
    if (random_[n] || a.info(n).framework == b.info(n).framework) continue;
    if (differ(a.outputs(n), b.outputs(n), 0)) return Difference{n, false};
  }
  const double least = kLeastGradient * std::max(largest_gradient(a), largest_gradient(b));
  for (std::size_t n = groups_.size(); n-- > 0;) {
    if (random_[n]) return std::nullopt;  // gradients pass through it, too
    if (a.info(n).framework == b.info(n).framework) continue;
    if (differ(a.gradients(n), b.gradients(n), least)) return Difference{n, true};
  }
  return std::nullopt;
}

void KernelRace::judge() {
  for (std::size_t i = 1; i < runners_.size();) {
    const auto found = difference(*runners_.front().trial, *runners_[i].trial);
    if (!found) {
      ++i;
      continue;
    }
    const std::size_t wrong = is_right(runners_.front(), *found) ? i : 0;
    Runner& runner = runners_[wrong];
    const onnx::Node& node = runner.trial->info(found->node).node;
    const std::string reason =
        fmt::format("{}: its {} differ from those of others by more than rounding explains",
                    onnx::describe(node), found->of_gradients ? "gradients" : "outputs");
    try {
      if (bench_.clock() > deadline_) {
        refuse(runner, reason);
      } else {
        refuse_kernel(runner, found->node, reason);
        if (runner.trial) warm_up(runner);
      }
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      refuse(runner, error.what());
    }
    std::erase_if(runners_, [](const Runner& one) { return !one.trial; });
    if (wrong == 0) i = 1;
  }
}

/// Whether the reference's kernel in that node agrees, after the same nodes as the runner's.
bool KernelRace::is_right(const Runner& runner, const Difference& where) {
  const PlanTrial& mine = *runner.trial;
  if (mine.runs_in(where.node, kJudge)) return true;
  KernelAssignment assignment = mine.assignment();
  assignment.kernels[first_output(mine.info(where.node).node)] = kJudge;
  try {
    PlanTrial judge(bench_, assignment);
    if (!judge.runs_in(where.node, kJudge)) return true;
    (void)judge.warm_up(std::numeric_limits<double>::infinity());
    const auto found = difference(judge, mine);
    return !found || found->node != where.node;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {
    return true;  // no judge: the one that came first stays
  }
}

void KernelRace::refuse_kernel(Runner& runner, std::size_t node, const std::string& reason) {
  // Another framework runs the nodes that the runner's framework lacks.
  const std::string framework(runner.trial->info(node).framework);
  refused_[node].insert(framework);
  refusals_.push_back({framework, printable_message(reason)});
  KernelAssignment without = runner.trial->assignment();
  const std::string output = first_output(runner.trial->info(node).node);
  for (const OperatorRegistry* other : bench_.candidates) {
    if (refused_[node].contains(other->framework())) continue;
    without.kernels[output] = other->framework();
    auto trial = std::make_unique<PlanTrial>(bench_, without);
    // The other framework has no kernel for it.
    if (refused_[node].contains(trial->info(node).framework)) continue;
    runner.trial = std::move(trial);
    runner.totals.clear();
    return;
  }
  runner.trial.reset();
}

void KernelRace::refuse(Runner& runner, const std::string& reason) {
  refusals_.push_back({runner.framework, printable_message(reason)});
  runner.trial.reset();
}

bool KernelRace::try_out(PlanTrial& trial, const std::string& name) {
  try {
    (void)trial.warm_up(std::numeric_limits<double>::infinity());
    if (runners_.empty()) return true;
    const auto found = difference(*runners_.front().trial, trial);
    if (!found) return true;
    refusals_.push_back({name, fmt::format("{}: it differs by more than rounding explains",
                                           onnx::describe(trial.info(found->node).node))});
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    refusals_.push_back({name, printable_message(error.what())});
  }
  return false;
}

}  // namespace d5
