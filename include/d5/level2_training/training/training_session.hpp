// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/core/results/results.hpp"
#include "d5/level1_network/graph/placement.hpp"
#include "d5/level2_training/data/dataset.hpp"
#include "d5/level2_training/training/initial_values.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {
namespace detail {
struct TrainedModel;
}

/// Options for running a recipe; none of them changes what is trained.
struct SessionOptions {
  std::vector<std::string> frameworks = {"reference"};  ///< in order of preference for each node
  Placement placement = {};                             ///< exceptions for some nodes
  Device device = {};                                   ///< device of the network's computation
  std::size_t memory_limit = 0;                         ///< as in `ExecutorOptions`
  std::vector<std::string> recompute = {};              ///< as in `ExecutorOptions`
  std::string data = {};                ///< folder of the data set; empty: its default
  std::string checkpoint = {};          ///< file to write; empty: none
  std::string resume = {};              ///< checkpoint to resume; empty: train from the beginning
  std::int64_t checkpoint_every = 500;  ///< batches
  std::int64_t checkpoints_kept = 1;    ///< as in `TrainerOptions`
  InitialValues init = {};              ///< initial values of the network, unless it is resumed
  std::string save = {};    ///< ONNX file for the trained network without its loss; empty: none
  bool writes_save = true;  ///< one rank writes what all save together
  int loader_threads = 0;   ///< prefetching threads (`Sampler::read_ahead`); 0: no prefetching
  std::function<void(const std::string&)> say = {};  ///< gets one line per epoch; empty: quiet
  std::vector<MetricChoice> metrics = {};            ///< in addition to the recipe's
  std::vector<std::shared_ptr<TrainingEvent>> observers = {};

  // Hooks for distributed training. Empty: as the recipe says.
  using MakeSampler = std::function<std::shared_ptr<Sampler>(
      const SamplerEntry&, std::shared_ptr<const Dataset>, const Settings&)>;
  MakeSampler make_train_sampler = {};
  MakeSampler make_test_sampler = {};  ///< if ranks share the test set
  /// Replaces `make_executor`: returns an executor of the part of `whole` that is trained here.
  /// `save` writes `whole`, after `run_trainer`.
  std::function<std::shared_ptr<GraphExecutor>(const Network& whole, const std::string& loss,
                                               const ExecutorOptions& options)>
      make_executor = {};
  std::function<std::shared_ptr<Optimizer>(std::shared_ptr<Optimizer>)> wrap_optimizer = {};
  /// Replaces `Trainer::run`, if not every rank calls it.
  std::function<void(Trainer&, const Interrupt&)> run_trainer = {};
  /// Distinguishes checkpoints of different ways to run one recipe: "ranks=2".
  std::string variant = {};
  std::int64_t ranks = 1;            ///< as in `TrainerOptions`
  std::string command_options = {};  ///< end of every record's command: " --load mine.so"
};

/// A recipe ready to run: data, network, optimizer, trainer and metrics.
///
///     TrainingSession session(load_recipe("mnist-lenet"));
///     for (const Measurement& result : session.run()) ...
///
/// The optimizer "FRAMEWORK/NAME" is that framework's own.
class TrainingSession {
 public:
  /// `interrupt` ends the opening of its data. Throws: what its parts throw; NotFound if the recipe
  /// has a bound on a metric that is not measured, or a metric reads a missing output or field;
  /// Interrupted.
  explicit TrainingSession(const Recipe& recipe, SessionOptions options = {},
                           const Interrupt& interrupt = {});
  ~TrainingSession();

  /// Trains, then judges. Returns one record per metric; it failed if it misses the recipe's bound,
  /// or if training threw, as for a loss of NaN. An interrupt ends it as `Trainer::run` describes:
  /// metrics with samples are mistrusted, others are skipped, and nothing is judged. Call it once.
  [[nodiscard]] std::vector<Measurement> run(const Interrupt& interrupt = {});
  /// `run` without the judgement, for one of several ranks: records are judged after they are
  /// merged.
  [[nodiscard]] std::vector<Measurement> run_unjudged(const Interrupt& interrupt = {});
  /// Exception that ended training (records hold only its message); null if there was none.
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

  /// Saves the trained network without an appended loss, with the parameters that test runs use.
  /// Throws: as `onnx::save`.
  void save(const std::string& path);

  [[nodiscard]] Trainer& trainer() { return *trainer_; }
  [[nodiscard]] Network& network() { return optimizer_->executor().network(); }
  [[nodiscard]] const DatasetPair& data() const { return data_; }

 private:
  void make_data(const Interrupt& interrupt);
  void make_optimizer();
  [[nodiscard]] ExecutorOptions execution() const;
  void make_trainer();
  void make_metrics();
  void resolve_names();
  void share_tests();
  [[nodiscard]] bool nothing_is_left() const;
  void train(const Interrupt& interrupt);
  [[nodiscard]] Measurement record() const;
  [[nodiscard]] std::string command() const;
  [[nodiscard]] MetricChoice choice_of(const std::string& metric, const Settings& asked) const;

  Recipe recipe_;
  SessionOptions options_;
  TrainingOptions training_;
  std::string learning_rate_;
  DatasetPair data_;
  std::unique_ptr<detail::TrainedModel> model_;
  std::shared_ptr<Sampler> train_, test_;
  std::shared_ptr<Optimizer> optimizer_;
  std::unique_ptr<Trainer> trainer_;
  std::vector<std::shared_ptr<Metric>> metrics_;
  std::exception_ptr failure_;
};

/// Marks `result` failed, with the reason, if its number misses `acceptable`. `acceptable` also
/// selects the statistic, so that the judged number is the printed one.
void judge(Measurement& result, const Recipe::Acceptable& acceptable);
/// Judges every record of a metric for which the recipe has a bound. If the recipe is only
/// compared, the condition "accepted" names the missed bounds and nothing fails.
void judge(std::vector<Measurement>& results, const Recipe& recipe);

struct RecipeRun {
  Results results;
  bool accepted = false;  ///< whether every acceptable bound was met
};

/// Trains a recipe to the end and returns the results.
[[nodiscard]] RecipeRun run_recipe(const Recipe& recipe, SessionOptions options = {},
                                   const Interrupt& interrupt = {});

}  // namespace d5
