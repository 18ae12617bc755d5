// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace d5::python {

/// An executor that Python and an optimizer own together.
class SharedExecutor final : public GraphExecutor {
 public:
  explicit SharedExecutor(std::shared_ptr<GraphExecutor> executor)
      : executor_(std::move(executor)) {}
  const ValueMap& inference(const ValueMap& inputs) override {
    return executor_->inference(inputs);
  }
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override {
    return executor_->inference_and_backprop(inputs, loss);
  }
  const Tensor& input_gradient(std::string_view name) const override {
    return executor_->input_gradient(name);
  }
  Network& network() override { return executor_->network(); }
  EventList& events() override { return executor_->events(); }
  std::string framework() const override { return executor_->framework(); }

 private:
  std::shared_ptr<GraphExecutor> executor_;
};

/// The hooks of an executor that the Python object has; null if it has none.
[[nodiscard]] std::shared_ptr<Event> execution_event(const py::object& object);

}  // namespace d5::python
