// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "answered.hpp"
#include "bindings.hpp"
#include "collected.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_event.hpp"
#include "in_place.hpp"
#include "lent_outputs.hpp"
#include "level1_network/executor.hpp"
#include "level2_training/data/lent_batch.hpp"
#include "long_call.hpp"
#include "use.hpp"

namespace d5::python {

/// The training hooks of a Python object, those of `Base`, and its hooks of an executor, which
/// observe the trainer's one; hooks that its class inherits unchanged from d5.Event are not called.
template <class Base>
class PythonTrainingHooks : public Base, public HoldsPython {
 public:
  explicit PythonTrainingHooks(const py::object& self)
      : self_(self), execution_(execution_event(self)) {
    for (const char* name : {"before_training", "after_training", "before_epoch", "after_epoch",
                             "before_batch", "after_batch", "before_test", "after_test",
                             "after_test_batch", "after_checkpoint", "wants_stop"}) {
      if (overrides(self, "Event", name)) hooks_.insert(name);
    }
  }
  [[nodiscard]] bool listens() const { return !hooks_.empty() || execution_; }
  /// Adds the executor's hooks to it once, however often it is asked to.
  void listen_to(GraphExecutor& executor) {
    if (!execution_) return;
    executor.events().remove(execution_.get());
    executor.events().add(execution_);
  }
  [[nodiscard]] py::handle held() const override { return self_.object; }

  ~PythonTrainingHooks() override { end_batch(); }
  PythonTrainingHooks(const PythonTrainingHooks&) = delete;
  PythonTrainingHooks& operator=(const PythonTrainingHooks&) = delete;

  void before_training(Trainer& trainer) override {
    listen_to(trainer.optimizer().executor());
    call("before_training", &trainer);
  }
  void after_training(Trainer& trainer) override { call("after_training", &trainer); }
  void before_epoch(Trainer& trainer, std::int64_t epoch) override {
    call("before_epoch", &trainer, epoch);
  }
  void after_epoch(Trainer& trainer, std::int64_t epoch) override {
    call("after_epoch", &trainer, epoch);
  }
  void before_batch(Trainer& trainer, const Batch& batch) override {
    end_batch();
    call("before_batch", &trainer, LentBatch(batch, lease_of_batch()));
  }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    call_with_outputs("after_batch", trainer, &trainer.train_sampler(), batch, outputs);
    end_batch();
  }
  void before_test(Trainer& trainer) override { call("before_test", &trainer); }
  void after_test(Trainer& trainer) override { call("after_test", &trainer); }
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    call_with_outputs("after_test_batch", trainer, trainer.test_sampler(), batch, outputs);
    end_batch();
  }
  /// Counts of a Python hook are not joined over ranks.
  [[nodiscard]] bool wants_whole_tests() const override {
    return hooks_.contains("after_test_batch");
  }
  void after_checkpoint(Trainer& trainer, const std::string& path) override {
    call("after_checkpoint", &trainer, path);
  }
  [[nodiscard]] bool wants_stop() const override {
    if (!hooks_.contains("wants_stop")) return false;
    return call_python([&] {
      return answered_bool(self_.object.attr("wants_stop")(), self_.object, "wants_stop()");
    });
  }

 protected:
  /// Called after each hook, with the GIL.
  virtual void called() {}
  [[nodiscard]] const py::object& self() const { return self_.object; }

 private:
  /// Objects lent to hooks are valid from a batch's first hook to the end of its last.
  const SharedLease& lease_of_batch() {
    if (!batch_) batch_ = std::make_shared<Lease>("a batch's hooks");
    return batch_;
  }
  void end_batch() {
    if (batch_) batch_->end();
    batch_ = nullptr;
  }
  template <class... Arguments>
  void call(const char* name, const Arguments&... arguments) {
    if (!hooks_.contains(name)) return;
    call_python([&] {
      // Pointers are lent, values copied.
      expect_unread(
          self().attr(name)(py::cast(arguments, py::return_value_policy::automatic_reference)...),
          self(), name);
      called();
    });
  }
  /// `sampler` is read on after the hook.
  void call_with_outputs(const char* name, Trainer& trainer, const Sampler* sampler,
                         const Batch& batch, const ValueMap& outputs) {
    if (!hooks_.contains(name)) return;
    constexpr auto reference = py::return_value_policy::reference;
    call_python([&] {
      const Use use(sampler, "the trainer's sampler");
      const SharedLease& lease = lease_of_batch();
      expect_unread(self().attr(name)(py::cast(&trainer, reference), LentBatch(batch, lease),
                                      lent_outputs(outputs, lease)),
                    self(), name);
      called();
    });
  }

  PythonReference self_;
  std::shared_ptr<Event> execution_;  // null: none
  std::set<std::string_view> hooks_;
  SharedLease batch_;
};

/// The observer with the object's hooks of training and of an executor. Throws: TypeError for an
/// object without any.
[[nodiscard]] std::shared_ptr<TrainingEvent> training_event(const py::object& self);
/// Adds it to the trainer, and at once to the executor.
void add_event(Trainer& trainer, const py::object& self);

}  // namespace d5::python
