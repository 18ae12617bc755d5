// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/trampoline_self_life_support.h>

#include <map>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::python {

/// An executor in Python: a class derived from `d5.GraphExecutor` that computes a network's
/// outputs, and gradients for training. Observers see the network as one step.
class PythonExecutor final : public GraphExecutor, public py::trampoline_self_life_support {
 public:
  explicit PythonExecutor(Network network);

  const ValueMap& inference(const ValueMap& inputs) override;
  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override;
  /// The gradient of a parameter; other tensors have none. Throws: NotFound.
  [[nodiscard]] const Tensor& gradient(std::string_view name) const override;
  void end_run() override { end_wanted_ = true; }
  [[nodiscard]] bool ended_early() const override { return ended_early_; }
  void set_mode(NetworkMode mode) override { mode_ = mode; }
  [[nodiscard]] NetworkMode mode() const override { return mode_; }
  [[nodiscard]] ValueMap state() const override;
  void restore(const ValueMap& state) override;
  [[nodiscard]] Network& network() override { return network_; }
  [[nodiscard]] EventList& events() override { return events_; }
  /// The class attribute `framework`, else the class's name.
  [[nodiscard]] std::string framework() const override { return framework_; }

 private:
  template <class Work>
  const ValueMap& run(Pass pass, const Work& work);
  void take(const char* method, const py::object& given);
  /// The class's name, and `framework_`. Call with the GIL.
  const std::string& who();
  void announce_gradients();

  Network network_;
  EventList events_;
  NetworkMode mode_ = NetworkMode::as_written;
  std::string framework_ = "python";
  onnx::Node node_;
  ValueMap outputs_;
  // Gradients of parameters, after backpropagation.
  std::map<std::string, Tensor, std::less<>> gradients_;
  std::vector<ExecutionEvent*> observers_;
  bool end_wanted_ = false, ended_early_ = false;
};

}  // namespace d5::python
