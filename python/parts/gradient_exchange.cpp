// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"

#include "level2_training/optimization/optimizer_classes.hpp"
#include "level3_distributed/python_request.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"
#include "python_state.hpp"

namespace d5::python {
namespace {

/// A d5.GradientExchange in Python.
class ExchangeInPython final : public GradientExchange {
 public:
  /// Call with the GIL.
  ExchangeInPython(const py::object& self, std::shared_ptr<Communicator> ranks,
                   const std::shared_ptr<AllReduce>& all_reduce)
      : GradientExchange(std::move(ranks)), self_(self) {
    if (!overrides(self, "GradientExchange", "start")) {
      throw_lacks_method(self, "start", "start(bucket, step)");
    }
    expect_state_pair(self, "GradientExchange");
    self.attr("ranks") = held(this->ranks());
    self.attr("all_reduce") = all_reduce;
    attaches_ = overrides(self, "GradientExchange", "attach");
    keeps_state_ = overrides(self, "GradientExchange", "state");
  }
  void attach(ThreeStepOptimizer& optimizer) override {
    if (!attaches_) return;
    call_python([&] {
      self_.object.attr("attach")(
          py::cast(static_cast<Optimizer*>(&optimizer), py::return_value_policy::reference));
    });
  }
  [[nodiscard]] std::unique_ptr<Request> start(const GradientBucket& bucket,
                                               const ExchangeStep& step) override {
    return call_python([&] {
      return request_of(self_.object.attr("start")(GradientBucket(bucket), ExchangeStep(step)),
                        "start of a d5.GradientExchange");
    });
  }
  [[nodiscard]] ValueMap state() const override {
    return keeps_state_ ? python_state_of(self_) : ValueMap();
  }
  void restore(const ValueMap& state) override {
    if (keeps_state_) restore_python_state(self_, state);
  }

 private:
  PythonReference self_;
  bool attaches_ = false, keeps_state_ = false;
};

std::shared_ptr<GradientExchange> exchange_of(const py::object& made,
                                              std::shared_ptr<Communicator> ranks,
                                              const std::shared_ptr<AllReduce>& all_reduce) {
  expect_derived(made, "GradientExchange");
  return std::make_shared<ExchangeInPython>(made, std::move(ranks), all_reduce);
}

}  // namespace

void register_gradient_exchange(py::module_& m) {
  py::class_<GradientBucket>(m, "GradientBucket",
                             "Parameters whose gradients are neighbours in memory.")
      .def_readonly("index", &GradientBucket::index,
                    "Index of the bucket, in the order in which backpropagation finishes them.")
      .def_readonly("begin", &GradientBucket::begin, "Index of its first parameter in the network.")
      .def_readonly("end", &GradientBucket::end, "Index after its last parameter.")
      .def_property_readonly(
          "data", [](const GradientBucket& bucket) { return bucket.data; },
          "Its gradients as one tensor, with the padding between them.");
  py::class_<ExchangeStep>(m, "ExchangeStep", "What an exchange knows about the step.")
      .def_readonly("number", &ExchangeStep::number, "Number of the step, the same on every rank.")
      .def_readonly("weight", &ExchangeStep::weight, "Weight of this rank's gradients in the sum.")
      .def_readonly("all", &ExchangeStep::all, "Whether all gradients are read.");
  const auto make = [](const PythonEntry& entry, std::shared_ptr<Communicator> ranks,
                       const std::shared_ptr<AllReduce>& all_reduce, const PythonOptions& own) {
    return entry.make(own, [&](const py::object& made) {
      return exchange_of(made, std::move(ranks), all_reduce);
    });
  };
  part_kinds().add(
      gradient_exchanges().kind(),
      {.base = "GradientExchange", .needs = 0, .add = adding_to(gradient_exchanges(), make)});
  m.def("gradient_exchanges", [] { return gradient_exchanges().names(); });
}

}  // namespace d5::python
