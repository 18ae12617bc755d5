// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/python_scheme.hpp"
#include "level2_training/data/lent_batch.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/schemes/rank_check.hpp"
#include "in_place.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// This rank's gradients, which `exchange` turns into those of all ranks after backpropagation; a
/// scheme with a `step` of its own does so after the run.
class PythonExchange final : public GradientDecorator {
 public:
  PythonExchange(std::shared_ptr<GradientSource> inner, const std::shared_ptr<Communicator>& ranks,
                 std::shared_ptr<PythonReference> self)
      : GradientDecorator(std::move(inner)), ranks_(ranks), self_(std::move(self)) {}

  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    if (how.write == GradientRun::Write::add) {
      throw Unsupported(
          "gradients that ranks have exchanged cannot be added to: add before the exchange "
          "(GradientLayer::accumulated)");
    }
    const double share = self_ ? loss_weight().share(ranks_, batch) : 1;
    const ValueMap& outputs = inner().run(batch, how);
    if (executor().ended_early()) {
      throw Unsupported("an observer ended the run early, but other ranks wait for its gradients");
    }
    inner().finish_all();
    executor().synchronise();
    if (self_) call_exchange(share);
    return outputs;
  }
  [[nodiscard]] std::size_t parts() const override { return 1; }
  ParameterRange finish(std::size_t) override {
    return {0, executor().network().parameters().size()};
  }
  [[nodiscard]] bool announces() const override { return false; }
  [[nodiscard]] bool counted() override { return self_ || inner().counted(); }
  double loss_of(const Batch& batch) override {
    return loss_weight().join(ranks_, inner().loss_of(batch), batch);
  }
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override {
    return loss_weight().join(ranks_, inner().loss_of_run(outputs, batch), batch);
  }

 private:
  void call_exchange(double share) {
    call_python([&] {
      expect_in_place(self_->object.attr("exchange")(share), self_->object, "exchange()",
                      "self.ranks.all_reduce(parameter.gradient)");
    });
  }

  CommunicatorAgreement ranks_;
  std::shared_ptr<PythonReference> self_;
};

/// A scheme in Python.
class PythonScheme final : public DistributedOptimizer {
 public:
  PythonScheme(const py::object& self, std::shared_ptr<ThreeStepOptimizer> optimizer,
               std::shared_ptr<Communicator> ranks)
      : DistributedOptimizer(std::move(optimizer), std::move(ranks)),
        self_(std::make_shared<PythonReference>(self)),
        class_name_(py::str(py::type::of(self).attr("__name__"))),
        consistent_(self.attr("consistent").cast<bool>()),
        step_(has("step")),
        after_step_(has("after_step")),
        begin_test_(has("begin_test")),
        end_test_(has("end_test")) {
    if (!step_ && !has("exchange")) {
      throw TypeError(
          fmt::format("the scheme {} has no method exchange(share), which turns this rank's "
                      "gradients into those of all ranks, and no step(batch) that does so",
                      std::string(py::str(py::type::of(self).attr("__name__")))));
    }
    local().add_gradient_layer(
        ThreeStepOptimizer::GradientLayer::exchanged,
        [ranks = shared_communicator(),
         self = step_ ? nullptr : self_](std::shared_ptr<GradientSource> inner) {
          return std::make_shared<PythonExchange>(std::move(inner), ranks, self);
        });
    self.attr("begin")(shared_communicator(), py::cast(static_cast<Optimizer*>(&local()),
                                                       py::return_value_policy::reference));
  }

  [[nodiscard]] bool is_consistent() const override { return consistent_; }
  const ValueMap& step(const Batch& batch) override {
    const ValueMap& outputs = step_ ? step_in_python(batch) : local().step(batch);
    if (after_step_) call("after_step");
    if (consistent_ && !std::exchange(compared_, true)) compare();
    return outputs;
  }
  void begin_test() override {
    DistributedOptimizer::begin_test();
    if (begin_test_) call("begin_test");
  }
  void end_test() override {
    if (end_test_) call("end_test");
    DistributedOptimizer::end_test();
  }

 private:
  [[nodiscard]] bool has(const char* name) const {
    return overrides(self_->object, "DistributedOptimizer", name);
  }
  void call(const char* name) {
    call_python([&] { self_->object.attr(name)(); });
  }
  /// Throws: CommunicationError if the first step left the ranks with different parameters.
  void compare() {
    executor().synchronise();
    expect_equal_parameters(
        executor().network(), *shared_communicator(),
        fmt::format("after the first step of the scheme {}, whose `consistent` is True (exchange "
                    "all gradients, or set it to False)",
                    class_name_));
  }
  const ValueMap& step_in_python(const Batch& batch) {
    return call_python([&]() -> const ValueMap& {
      const LeaseScope step("a step");
      const py::object outputs = self_->object.attr("step")(LentBatch(batch, step.lease()));
      if (!py::isinstance<py::dict>(outputs)) {
        throw TypeError(fmt::format(
            "the scheme {}: step(batch) gave {}, expected the network's outputs, a "
            "dict as run_gradients returns it",
            std::string(py::str(py::type::of(self_->object).attr("__name__"))), shown(outputs)));
      }
      outputs_ = to_values(py::reinterpret_borrow<Values>(outputs));
      return outputs_;
    });
  }

  std::shared_ptr<PythonReference> self_;
  std::string class_name_;
  bool consistent_, step_, after_step_, begin_test_, end_test_;
  bool compared_ = false;  // after the first step
  ValueMap outputs_;       // outputs of a step in Python
};

}  // namespace

std::shared_ptr<DistributedOptimizer> to_scheme(const py::object& self,
                                                std::shared_ptr<ThreeStepOptimizer> optimizer,
                                                std::shared_ptr<Communicator> ranks) {
  return std::make_shared<PythonScheme>(self, std::move(optimizer), std::move(ranks));
}

}  // namespace d5::python
