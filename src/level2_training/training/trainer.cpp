// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/measuring/machine_watch.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level2_training/data/network_feed.hpp"
#include "level2_training/losses/parts/scalar_loss.hpp"
#include "level2_training/training/changed_parameters.hpp"
#include "level2_training/training/older_checkpoints.hpp"
#include "level2_training/training/own_samples.hpp"
#include "level2_training/training/test_mean.hpp"

namespace d5 {
namespace {

const Batch* traced_next_batch(Sampler& sampler) {
  const Span span("data", "next batch");
  return sampler.next();
}

void expect_valid(const TrainerOptions& options) {
  const auto expect = [](const char* name, std::int64_t value, std::int64_t least) {
    if (value >= least) return;
    throw ValueError(
        fmt::format("trainer: {} is {}, expected an integer of {} or more", name, value, least));
  };
  expect("epochs", options.epochs, 0);
  expect("most_batches", options.most_batches, 0);
  expect("checkpoint_every", options.checkpoint_every, 1);
  expect("test_every", options.test_every, 1);
  expect("checkpoints_kept", options.checkpoints_kept, 1);
}

}  // namespace

Trainer::Trainer(Optimizer& optimizer, Sampler& train, Sampler* test, TrainerOptions options)
    : optimizer_(optimizer), train_(train), test_(test), options_(std::move(options)) {
  expect_valid(options_);
  if (const Network& network = optimizer_.executor().network(); pulls_data(network)) {
    throw Unsupported(
        fmt::format("trainer: network '{}' reads its own data, but a trainer feeds its sampler's "
                    "batches; train it by optimizer.step({{}}), or make the fields inputs again",
                    printable(network.name())));
  }
}

void Trainer::hear_observers() {
  if (optimizer_.agreement().ranks() == 1) agree_to_stop();
}

void Trainer::agree_to_stop() {
  const bool wish =
      std::ranges::any_of(listeners_, [](const auto* event) { return event->wants_stop(); });
  stop_ = optimizer_.agreement().any(stop_ || wish);
}

void Trainer::end_if_wished() {
  if (optimizer_.agreement().end_together(interrupt_.due())) {
    throw Interrupted("training: interrupted");
  }
}

bool Trainer::finished() const {
  return stop_ || (options_.most_batches > 0 && step_ >= options_.most_batches);
}

void Trainer::expect_at_rest(const char* call) const {
  if (!running_) return;
  throw ValueError(fmt::format(
      "Trainer::{}: it is running, and this is called from one of its own hooks; end the run by "
      "wants_stop first",
      call));
}

void Trainer::run(const Interrupt& interrupt) {
  expect_at_rest("run");
  const Span span("training", "training");
  struct Running {
    bool& here;
    ~Running() { here = false; }
  };
  running_ = true;
  const Running until_end{running_};
  stop_ = false;
  restore_metrics();
  if (!watch_) watch_ = std::make_shared<detail::MachineWatch>();
  events_.collect(listeners_);
  if (ranks_of_model() == 1) detail::expect_parameters(network());
  detail::expect_tests(*this);
  detail::expect_equal_numbers(optimizer_.agreement(), optimizer_.hyper_parameters());
  for (auto* event : listeners_) event->resolve(*this);
  for (auto* event : listeners_) event->before_training(*this);
  interrupted_ = false;
  interrupt_ = interrupt;
  std::optional<InterruptibleRuns> within_batches;
  if (interrupt.possible() && options_.checkpoint.empty() && optimizer_.agreement().is_alone()) {
    within_batches.emplace(optimizer_.executor(), interrupt);
  }
  try {
    agree_to_stop();
    while (epoch_ < options_.epochs && !finished()) {
      if (run_epoch() == Stop::yes) break;
    }
  } catch (const Interrupted&) {
    interrupted_ = true;
    checkpoint();
  }
  interrupt_ = {};
  for (auto* event : listeners_) event->after_training(*this);
}

const Network& Trainer::network() const {
  return options_.whole ? *options_.whole : optimizer_.executor().network();
}

int Trainer::ranks_of_model() const { return optimizer_.agreement().ranks_of_model(); }

Trainer::Stop Trainer::run_epoch() {
  Span span("training", "epoch");
  span.argument("epoch", epoch_);
  train_.seek(epoch_, batch_);
  if (batch_ == 0) {
    for (auto* event : listeners_) event->before_epoch(*this, epoch_);
  }
  end_if_wished();
  while (const Batch* batch = next_training_batch()) {
    run_batch(*batch);
    hear_observers();
    if (finished()) {
      // Saved within the epoch, so that a resumed run with a higher limit continues as if there had
      // been none.
      checkpoint();
      break;
    }
    end_if_wished();
    if (step_ % options_.checkpoint_every == 0) checkpoint();
  }
  agree_to_stop();
  const Stop stop = batch_ < train_.batches() ? Stop::yes : Stop::no;
  const bool is_last = stop == Stop::yes || epoch_ + 1 == options_.epochs || finished();
  if (is_last || (epoch_ + 1) % options_.test_every == 0) test();
  for (auto* event : listeners_) event->after_epoch(*this, epoch_);
  agree_to_stop();
  if (stop == Stop::no) {
    ++epoch_;
    batch_ = 0;
    saved_step_ = -1;  // the same step, but now with its test run
    checkpoint();
  }
  return stop;
}

const Batch* Trainer::next_training_batch() {
  // Only the sampler works while the clock runs (an active trace notes the span).
  const double begin = now_seconds();
  const Batch* batch = traced_next_batch(train_);
  const double waited = now_seconds() - begin;
  const bool is_known = batch && batch->making_seconds > 0;
  batch_times_ = {.waiting_seconds = waited,
                  .making_seconds = is_known ? batch->making_seconds : waited};
  return batch;
}

void Trainer::run_batch(const Batch& batch) {
  Span span("training", "batch");
  span.argument("batch", batch.index);
  span.argument("samples", batch.size);
  if (step_ == 0) detail::expect_own_samples(optimizer_.agreement(), batch);
  for (auto* event : listeners_) event->before_batch(*this, batch);
  // The measured time is that of the step alone: forward, backward, update, and the wait for the
  // device.
  const double begin = now_seconds();
  const ValueMap& outputs = optimizer_.step(batch);
  optimizer_.executor().synchronise();
  batch_times_.step_seconds = now_seconds() - begin;
  if (optimizer_.executor().ended_early()) return count(batch);
  const double loss = detail::scalar_loss(outputs, optimizer_.loss());
  if (!std::isfinite(loss) && !is_elsewhere(batch)) {
    throw NumericError(fmt::format(
        "epoch {} of {}, batch {} of {}: the loss is {}; lower the learning rate, or look at the "
        "data of this batch{}{}",
        batch.epoch + 1, options_.epochs, batch.index + 1, train_.batches(), loss,
        optimizer_.loss_weight().counts(batch)
            ? ""
            : ", in which nothing counts: " + optimizer_.loss_weight().counted(),
        options_.checkpoint.empty()
            ? ""
            : fmt::format(" (the last good state is in '{}')", printable(options_.checkpoint))));
  }
  if (std::isfinite(loss)) Trace::count("training", "loss", loss);
  count(batch);
  for (auto* event : listeners_) event->after_batch(*this, batch, outputs);
}

/// Whether all counted samples of the batch may be on other ranks.
bool Trainer::is_elsewhere(const Batch& batch) {
  RankAgreement& ranks = optimizer_.agreement();
  return ranks.ranks() > ranks.ranks_of_model() && !optimizer_.loss_weight().counts(batch);
}

void Trainer::count(const Batch& batch) {
  ++step_;
  batch_ = batch.index + 1;
}

void Trainer::test() {
  if (!test_) return;
  const Span span("training", "test");
  events_.collect(listeners_);
  for (auto* event : listeners_) event->before_test(*this);
  test_->reset(0);
  GraphExecutor& executor = optimizer_.executor();
  const ValueMap before = executor.state();
  const TestParameters lent(optimizer_);
  const ModeScope inference(executor, NetworkMode::inference);
  const bool is_alone = optimizer_.agreement().is_alone();  // others may have more test batches
  detail::TestMean losses;
  try {
    while (const Batch* batch = traced_next_batch(*test_)) {
      if (is_alone) interrupt_.check("test run");
      const ValueMap& outputs = executor.inference(test_feed_.of(executor.network(), *batch));
      if (executor.ended_early()) continue;
      if (outputs.contains(optimizer_.loss())) {
        losses.add_loss(detail::scalar_loss(outputs, optimizer_.loss()), optimizer_.loss_weight(),
                        *batch);
      }
      for (auto* event : listeners_) event->after_test_batch(*this, *batch, outputs);
    }
  } catch (const Interrupted&) {
    executor.restore(before);  // a checkpoint follows
    throw;
  }
  executor.restore(before);  // random numbers of training do not depend on when it is tested
  optimizer_.tested(losses.empty() ? 0 : losses.value(), losses.weight());
  for (auto* event : listeners_) event->after_test(*this);
}

void Trainer::checkpoint() {
  if (options_.checkpoint.empty() || saved_step_ == step_) return;
  const Span span("training", "checkpoint");
  if (options_.checkpoints_kept > 1) detail::keep_as_older(options_.checkpoint);
  save_checkpoint(options_.checkpoint);
  if (options_.checkpoints_kept > 1) {
    detail::remove_older(options_.checkpoint, options_.checkpoints_kept - 1);
  }
  saved_step_ = step_;
  for (auto* event : listeners_) event->after_checkpoint(*this, options_.checkpoint);
}

}  // namespace d5
