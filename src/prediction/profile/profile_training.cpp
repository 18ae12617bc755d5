// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/profile_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/measuring/machine_watch.hpp"
#include "core/measuring/trust.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/prediction/profile/rank_rates.hpp"
#include "level3_distributed/communicator/gather_texts.hpp"
#include "prediction/profile/launch_samples.hpp"
#include "prediction/profile/profiled_step.hpp"
#include "prediction/profile/step_recorder.hpp"

namespace d5 {
namespace {

using Times = TrainingProfile::Times;

constexpr std::int64_t kUpdatesEvery = 3;  ///< rounds between steps with individually timed updates
constexpr std::int64_t kFewestKept = 2;    ///< steps of an interrupted run

/// Times of the updates of one step by parameter, without the network's run. Empty for an optimizer
/// that cannot update parameters one by one.
std::vector<double> timed_updates(Optimizer& optimizer, const Batch& batch) {
  auto* parts = dynamic_cast<ThreeStepOptimizer*>(&optimizer);
  if (!parts) return {};
  parts->begin_step(batch);
  (void)parts->run_gradients(batch);
  if (!parts->begin_updates()) return {};
  std::vector<double> seconds(parts->executor().network().parameters().size());
  try {
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      const double begin = now_seconds();
      parts->update(i);
      parts->executor().synchronise();
      seconds[i] = now_seconds() - begin;
    }
  } catch (const Unsupported&) {  // all parameters are updated together
    seconds.clear();
  }
  parts->end_step();
  return seconds;
}

/// The steps of one batch size.
class BatchSteps {
 public:
  BatchSteps(ProfiledStep& step, std::int64_t batch) : step_(step) { times_.batch = batch; }

  /// Returns: s.
  double unobserved(bool kept) {
    // Timed: from before the batch is requested until the parameters are updated.
    const double begin = now_seconds();
    (void)step_.optimizer().step(step_.next());
    step_.optimizer().executor().synchronise();
    const double seconds = now_seconds() - begin;
    if (kept) times_.unobserved.push_back(seconds);
    return seconds;
  }

  void observed() {
    EventList& events = step_.optimizer().executor().events();
    events.add(recorder_);
    // Timed: as above, with clock readings by the recorder in between.
    const double begin = now_seconds();
    const Batch& batch = step_.next();
    const double loaded = step_.loads() ? now_seconds() : begin;
    recorder_->start(loaded);
    (void)step_.optimizer().step(batch);
    step_.optimizer().executor().synchronise();
    const double end = now_seconds();
    events.remove(recorder_.get());
    times_.recording = static_cast<double>(recorder_->readings()) * seconds_of_mark_;
    add(recorder_->finish(step_.optimizer().executor().network().parameters()), loaded - begin,
        end - begin, end);
  }

  void updates() {
    const auto seconds = timed_updates(step_.optimizer(), step_.next());
    if (seconds.empty()) return;
    update_seconds_.resize(seconds.size());
    for (std::size_t i = 0; i < seconds.size(); ++i) update_seconds_[i] += seconds[i];
  }

  /// Divides the time of all updates among the parameters, and adds this batch size to `profile`.
  void finish(TrainingProfile& profile) {
    const auto& parameters = step_.optimizer().executor().network().parameters();
    std::vector<double> shares = update_seconds_;
    if (shares.empty()) {  // by size, without better information
      for (const auto& parameter : parameters) {
        shares.push_back(static_cast<double>(parameter.gradient.bytes()));
      }
    }
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      pieces_.push_back({.name = parameters[i].name, .kind = "update"});
      std::vector<double> seconds;
      for (const double all : all_updates_) seconds.push_back(all * shares[i] / sum);
      times_.seconds.push_back(std::move(seconds));
      times_.gaps.push_back(i == 0 ? before_updates_ : std::vector<double>(all_updates_.size()));
    }
    if (profile.pieces.empty()) {
      profile.pieces = pieces_;
      for (const auto& parameter : parameters) {
        profile.parameters.push_back(
            {parameter.name, static_cast<double>(parameter.gradient.bytes())});
      }
    }
    expect_alike(profile.pieces, pieces_);
    profile.batches.push_back(std::move(times_));
  }

  [[nodiscard]] std::int64_t count() const {
    return static_cast<std::int64_t>(std::min(times_.steps.size(), times_.unobserved.size()));
  }

 private:
  static void expect_alike(const std::vector<TrainingProfile::Piece>& first,
                           const std::vector<TrainingProfile::Piece>& other) {
    const bool alike = std::ranges::equal(first, other, [](const auto& a, const auto& b) {
      return a.name == b.name && a.kind == b.kind && a.final_parameters == b.final_parameters;
    });
    if (alike) return;
    throw Unsupported(
        "the steps of this training run different nodes, so they cannot be profiled; leave out the "
        "cause, such as a batch size with its own plan");
  }

  void add(RecordedStep recorded, double load_seconds, double seconds, double end) {
    if (step_.loads()) {
      recorded.pieces.insert(recorded.pieces.begin(), {.name = "batch", .kind = "load"});
      recorded.seconds.insert(recorded.seconds.begin(), load_seconds);
      recorded.gaps.insert(recorded.gaps.begin(), 0);
    }
    if (pieces_.empty()) {
      pieces_ = recorded.pieces;
      times_.seconds.resize(pieces_.size());
      times_.gaps.resize(pieces_.size());
    }
    expect_alike(pieces_, recorded.pieces);
    double known = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      times_.seconds[i].push_back(recorded.seconds[i]);
      times_.gaps[i].push_back(recorded.gaps[i]);
      known += recorded.seconds[i] + recorded.gaps[i];
    }
    all_updates_.push_back(end - recorded.end);
    before_updates_.push_back(std::max(0.0, seconds - known - all_updates_.back()));
    times_.steps.push_back(seconds);
  }

  ProfiledStep& step_;
  std::shared_ptr<StepRecorder> recorder_ = std::make_shared<StepRecorder>();
  double seconds_of_mark_ = StepRecorder::seconds_of_mark();
  std::vector<TrainingProfile::Piece> pieces_;
  Times times_;
  std::vector<double> all_updates_, before_updates_;  ///< by step
  std::vector<double> update_seconds_;                ///< by parameter, from steps that time them
};

/// Returns whether all steps were made. A deadline still leaves the number of steps that a profile
/// needs.
bool run_steps(BatchSteps& steps, std::int64_t batch, const ProfileOptions& options,
               Communicator& ranks) {
  const auto stepped = [&] {
    if (options.on_step) options.on_step(batch);
  };
  Interrupt wish = options.interrupt;
  wish.deadline = std::numeric_limits<double>::infinity();
  double once = 0;
  for (std::int64_t i = 0; i < options.warm_up && once < kWarmAfter && !wish.due(); ++i) {
    once = steps.unobserved(false);
    stepped();
  }
  const std::int64_t rounds = steps_wanted(options, once, ranks);
  for (std::int64_t round = 0; round < rounds && !wish.due(); ++round) {
    // Alternates the order, so that not always the same kind follows the timed updates.
    if (round % 2 == 0) steps.observed();
    steps.unobserved(true);
    if (round % 2 != 0) steps.observed();
    if (round % kUpdatesEvery == 0) steps.updates();
    if (round < options.steps) stepped();
    if (round + 1 >= kFewestKept && options.interrupt.due()) {
      return round + 1 >= options.steps || (options.launches > 1 && !wish.due());
    }
  }
  return !wish.due();
}

void append(std::vector<double>& to, const std::vector<double>& from, std::size_t count) {
  to.insert(to.end(), from.begin(), from.begin() + static_cast<std::ptrdiff_t>(count));
}

/// Joins the samples of all copies, equally many of each, in order.
TrainingProfile joined_copies(const TrainingProfile& mine, Communicator& ranks) {
  if (ranks.size() == 1) return mine;
  std::vector<TrainingProfile> copies;
  for (const auto& text : detail::gather_texts(ranks, to_json(mine))) {
    copies.push_back(training_profile_from_json(text, "of another copy"));
  }
  TrainingProfile all = mine;
  for (std::size_t b = 0; b < all.batches.size(); ++b) {
    Times& to = all.batches[b];
    to.steps.clear(), to.unobserved.clear();
    to.seconds.assign(to.seconds.size(), {}), to.gaps.assign(to.gaps.size(), {});
    std::size_t count = std::numeric_limits<std::size_t>::max();
    for (const TrainingProfile& copy : copies) {
      const Times& from = copy.batches.at(b);
      count = std::min({count, from.steps.size(), from.unobserved.size()});
    }
    for (const TrainingProfile& copy : copies) {
      const Times& from = copy.batches.at(b);
      append(to.steps, from.steps, count);
      append(to.unobserved, from.unobserved, count);
      for (std::size_t i = 0; i < to.seconds.size(); ++i) {
        append(to.seconds[i], from.seconds.at(i), count);
        append(to.gaps[i], from.gaps.at(i), count);
      }
    }
  }
  return all;
}

void expect_in_range(const ProfileOptions& options) {
  const bool sizes = !options.batches.empty() && std::ranges::min(options.batches) >= 1;
  if (sizes && options.steps >= kFewestKept && options.warm_up >= 0) return;
  throw ValueError(fmt::format(
      "profile: {} batch sizes, the smallest of {}, {} steps after {}; expected a size from 1 on, "
      "{} steps at least",
      options.batches.size(), options.batches.empty() ? 0 : std::ranges::min(options.batches),
      options.steps, options.warm_up, kFewestKept));
}

}  // namespace

std::int64_t profiled_steps(const ProfileOptions& options) {
  return static_cast<std::int64_t>(options.batches.size()) * (options.steps + options.warm_up);
}

TrainingProfile profile_training(const std::string& model_or_recipe, const std::string& framework,
                                 const ProfileOptions& options, const ExecutorOptions& execution,
                                 Communicator& ranks) {
  expect_in_range(options);
  const Environment here = environment();
  TrainingProfile profile{.model = model_or_recipe,
                          .framework = framework,
                          .device = to_string(execution.device),
                          .threads = threads(),
                          .copies = ranks.size(),
                          .machine = machine_words(here)};
  if (const std::string version = version_of(framework); !version.empty()) {
    profile.framework += " " + version;
  }
  detail::MachineWatch watch;
  auto batches = options.batches;
  std::ranges::sort(batches);
  batches.erase(std::ranges::unique(batches).begin(), batches.end());
  for (const std::int64_t batch : batches) {
    const auto step = open_profiled_step(model_or_recipe, framework, batch, options, execution);
    profile.optimizer = step->optimizer_name();
    profile.digest = model_digest(step->optimizer().executor().network());
    BatchSteps steps(*step, batch);
    ranks.barrier();
    Tensor whole = Tensor::scalar<std::int32_t>(run_steps(steps, batch, options, ranks) ? 1 : 0);
    // A finished copy keeps the machine busy until all are finished.
    const auto all_done = ranks.start_all_reduce(whole, Reduction::minimum);
    while (!all_done->done()) steps.unobserved(false);
    if (steps.count() < kFewestKept) {
      throw Interrupted(
          fmt::format("profile of '{}': interrupted before batch {} had {} steps; "
                      "no profile is written",
                      printable(model_or_recipe), batch, kFewestKept));
    }
    const std::int64_t kept = steps.count();
    steps.finish(profile);
    if (whole.item<std::int32_t>() != 0) continue;
    profile.mistrusted.push_back(
        fmt::format("interrupted: {} steps of batch {}, and no larger one", kept, batch));
    break;
  }
  profile = joined_copies(profile, ranks);
  profile.rates = time_rank_rates(ranks);
  if (const int used = profile.threads * profile.copies; used > here.cores) {
    profile.mistrusted.push_back(fmt::format("{} threads in all on {} cores", used, here.cores));
  }
  for (std::string& reason : detail::disturbances(watch.evidence_so_far())) {
    profile.mistrusted.push_back(std::move(reason));
  }
  if (options.launches == 1) detail::judge_steps(profile);
  check(profile);
  return profile;
}

}  // namespace d5
