// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level2_training/data/batch_feed.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/training/training_event.hpp"

namespace d5 {

namespace detail {
class MachineWatch;
}

struct TrainerOptions {
  std::int64_t epochs = 1;
  std::int64_t most_batches = 0;        ///< of the whole run; 0: no limit
  std::string checkpoint = {};          ///< file; empty: none
  std::int64_t test_every = 1;          ///< epochs; also at the end
  std::int64_t checkpoint_every = 500;  ///< batches; also after each epoch
  /// Checkpoints that stay, the older ones under names with their step: "run.ckpt.step-1500".
  std::int64_t checkpoints_kept = 1;
  std::int64_t ranks = 1;   ///< that train together; checkpoints tell it
  std::string recipe = {};  ///< what is trained, as a checksum: a checkpoint of another is refused
  /// The same in words, by the names of settings: a refusal tells which of them differ.
  std::map<std::string, std::string> settings = {};
  std::optional<Network> whole = {};  ///< that the executor's network is a part of
};

/// What the trainer read from the clock around a batch. The observers are outside.
struct BatchTimes {
  double waiting_seconds = 0;  ///< for the sampler to give the batch
  double making_seconds = 0;   ///< that reading it took, also while nobody waited
  double step_seconds = 0;     ///< forward, backward and update; 0 until it is done
};

/// The loop: epochs of batches, test runs between them, observers all along.
///
///     Trainer trainer(optimizer, train_sampler, &test_sampler, {.epochs = 2});
///     trainer.events().add(std::make_shared<TestAccuracy>());
///     trainer.run();
///
/// A run that `most_batches` or an observer ends within an epoch has its test run there. A batch
/// whose run of the network an observer ended early (`GraphExecutor::end_run`) is passed over: it
/// counts, but nothing is learnt of it, and it has no `after_batch` or `after_test_batch`.
///
/// A batch with fewer samples than ranks leaves some without any: these take part in the step, with
/// a `Batch` of size 0 whose values are absent, and outputs that hold nothing but a loss that is
/// not a number.
class Trainer {
 public:
  /// `test` may be null: no test runs. Throws: ValueError for options out of range; Unsupported for
  /// a network that pulls its own data (`feed_from`).
  Trainer(Optimizer& optimizer, Sampler& train, Sampler* test, TrainerOptions options = {});

  /// Trains to the end, from a checkpoint if one was resumed. Throws: NumericError on a loss that
  /// is not a number, with epoch and batch; ValueError for a network without parameters; what
  /// operators, data sets and observers throw. That steps changed nothing is a session's to say.
  ///
  /// An interrupt ends it between two batches, and what is left is a checkpoint, if one was asked
  /// for, and `after_training`: no test run, no end of an epoch. Without a checkpoint, which needs
  /// whole batches, it also ends within a batch, where the executor can; the parameters are then
  /// those before the batch. Ranks end between two batches, at the same one, whichever of them was
  /// interrupted (`RankAgreement::end_together`).
  void run(const Interrupt& interrupt = {});
  /// Continues from `path` at the next `run`: parameters, running statistics, the optimizer's
  /// state, hyper-parameters that were changed, places in random streams, the place in the data and
  /// what metrics had seen, with the reasons to mistrust it; metrics that are added after get that
  /// when `run` begins.
  /// Throws: IoError, FormatError (a broken file; another recipe's, another network's; an optimizer
  /// that did not take over what was saved).
  void resume(const std::string& path);
  /// Written to a temporary file, then renamed: a crash at any moment leaves a whole one.
  void save_checkpoint(const std::string& path);
  /// Whether the last run was interrupted.
  [[nodiscard]] bool interrupted() const { return interrupted_; }
  /// Runs the test set once, with the network in `NetworkMode::inference`. No effect without one.
  /// Throws: Interrupted.
  void test();

  [[nodiscard]] Optimizer& optimizer() { return optimizer_; }
  [[nodiscard]] EventList& events() { return events_; }
  [[nodiscard]] Sampler& train_sampler() const { return train_; }
  [[nodiscard]] Sampler* test_sampler() { return test_; }
  [[nodiscard]] const TrainerOptions& options() const { return options_; }
  /// The network that is trained, of which this rank may have a part.
  [[nodiscard]] const Network& network() const;
  [[nodiscard]] const std::string& loss() const { return optimizer_.loss(); }
  /// As `RankAgreement` says.
  [[nodiscard]] int ranks_of_model() const;
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }
  [[nodiscard]] std::int64_t batch() const { return batch_; }  ///< the next of this epoch
  [[nodiscard]] std::int64_t step() const { return step_; }    ///< batches since the beginning
  /// Of the batch that `before_batch` or `after_batch` is about.
  [[nodiscard]] const BatchTimes& batch_times() const { return batch_times_; }

 private:
  enum class Stop { no, yes };
  Stop run_epoch();
  [[nodiscard]] const Batch* next_training_batch();
  void run_batch(const Batch& batch);
  [[nodiscard]] bool is_elsewhere(const Batch& batch);
  void count(const Batch& batch);
  void checkpoint();
  void restore_metrics();
  [[nodiscard]] ValueMap metric_state() const;
  /// Ranks, which wait for each other within an epoch, agree around its test run alone, and when a
  /// run begins; of a rank alone observers are heard at once.
  void hear_observers();
  void agree_to_stop();
  /// Between two batches. Throws: Interrupted.
  void end_if_wished();
  [[nodiscard]] bool finished() const;
  /// Throws: ValueError within a run, whose hooks call it.
  void expect_at_rest(const char* call) const;

  Optimizer& optimizer_;
  Sampler& train_;
  Sampler* test_;
  TrainerOptions options_;
  EventList events_;
  std::vector<TrainingEvent*> listeners_;  // while it runs
  BatchFeed test_feed_;
  BatchTimes batch_times_;
  ValueMap metric_state_;  // what a checkpoint kept of metrics, until they are there
  std::int64_t epoch_ = 0, step_ = 0, batch_ = 0, saved_step_ = -1;
  Interrupt interrupt_;  // of this run
  bool interrupted_ = false, stop_ = false, running_ = false;
  std::shared_ptr<detail::MachineWatch> watch_;  // since the first run began
};

}  // namespace d5
