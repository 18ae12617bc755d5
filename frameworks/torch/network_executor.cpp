// SPDX-License-Identifier: Apache-2.0
#include "network_executor.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full_like.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "call_spans.hpp"
#include "compiled_network.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/execution/execution_trace.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "tensor_view.hpp"

namespace d5::torch {
namespace {

class NetworkExecutor final : public GraphExecutor {
 public:
  NetworkExecutor(Network network, const ExecutorOptions& options,
                  const OperatorRegistry& operators)
      : network_(std::move(network)),
        options_(options),
        operators_(operators),
        generator_(at::detail::createCPUGenerator(options.seed)) {
    compile();
  }

  const ValueMap& inference(const ValueMap& inputs) override {
    begin(inputs);
    const c10::InferenceMode without_autograd;
    return run(Pass::forward, [&] { return run_forward(nullptr); });
  }

  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override {
    expect_output(loss);
    begin(inputs);
    const at::AutoGradMode recording(true);
    gradients_.reset();
    return run(Pass::backward, [&] {
      Recording recorded;
      const std::size_t done = run_forward(&recorded);
      if (!ended_early_ && end_wanted_) ended_early_ = true;
      if (!ended_early_) go_back_from(recorded, std::string(loss));
      return done;
    });
  }

  std::unique_ptr<BatchInFlight> forward(const ValueMap& inputs,
                                         const std::vector<std::string>& outputs) override;

  const Tensor& gradient(std::string_view name) const override {
    return gradient_of(gradients_, name);
  }
  void set_loss_factor(double factor) override { loss_factor_ = factor; }
  void end_run() override { end_wanted_ = true; }
  bool ended_early() const override { return ended_early_; }

  void set_mode(NetworkMode mode) override {
    if (mode != mode_) compiled_.reset();
    mode_ = mode;
  }
  NetworkMode mode() const override { return mode_; }

  ValueMap state() const override { return {{"generator", share(generator_.get_state())}}; }
  void restore(const ValueMap& state) override {
    generator_.set_state(wrap(state_entry(state, "generator", "torch's executor")));
  }

  Network& network() override { return network_; }
  EventList& events() override { return events_; }
  std::string framework() const override { return "torch"; }

 private:
  using Gradients = CompiledNetwork::Gradients;
  class Flight;

  void compile() {
    compiled_ = std::make_shared<CompiledNetwork>(
        network_, mode_, options_, operators_, [this](std::size_t i) {
          for (auto* observer : observers_) {
            observer->gradient_ready(network_.parameters()[i], i, host_stream());
          }
        });
    revision_ = network_.revision();
  }

  void expect_output(std::string_view name) const {
    const auto names = network_.output_names();
    if (std::ranges::find(names, name) == names.end()) throw_unknown_name("output", name, names);
  }

  void begin(const ValueMap& inputs) {
    if (!compiled_ || revision_ != network_.revision()) compile();
    compiled_->feed(network_, inputs);
    collect_observers();
  }

  void collect_observers() {
    end_wanted_ = ended_early_ = false;
    events_.collect(observers_);
    CallSpans::follow_trace();
    if (Trace::on()) [[unlikely]]
      observers_.push_back(&trace_);
  }

  /// `work` returns the number of forward steps that ran.
  template <class F>
  const ValueMap& run(Pass pass, const F& work) {
    for (auto* observer : observers_) observer->before_run(pass);
    const std::size_t done = work();
    for (auto* observer : observers_) observer->after_run(pass);
    return outputs_ = compiled_->finish(network_, done);
  }

  std::size_t run_forward(Recording* recording) {
    const Random random = generator_;
    const std::size_t done = compiled_->run(random, {observers_, end_wanted_}, recording);
    ended_early_ = !compiled_->is_whole(done);
    return done;
  }

  void go_back_from(Recording& recorded, const std::string& loss) {
    const at::Tensor& value = recorded.outputs.at(loss).value;
    if (value.numel() != 1) throw ShapeError("loss '" + printable(loss) + "' is not a scalar");
    at::Tensor slope;  // undefined: one
    if (loss_factor_ != 1) slope = at::full_like(value, loss_factor_);
    gradients_ = go_back(*compiled_, recorded, {{loss, slope}});
  }

  Gradients go_back(CompiledNetwork& compiled, Recording& recorded,
                    const std::map<std::string, at::Tensor>& slopes) {
    for (auto* observer : observers_) observer->before_pass(Pass::backward);
    Gradients gradients = compiled.go_back(recorded, slopes);
    for (auto* observer : observers_) observer->after_pass(Pass::backward);
    return gradients;
  }

  /// `gradients`: requested ones, after a backward run.
  const Tensor& gradient_of(const std::optional<Gradients>& gradients,
                            std::string_view name) const {
    if (gradients) {
      if (const auto place = gradients->find(name); place != gradients->end()) return place->second;
      if (options_.parameter_gradients && network_.is_parameter(name)) {
        return Network(network_).parameter(name).gradient;
      }
    }
    throw NotFound("there is no gradient of '" + printable(name) +
                   "': name it in ExecutorOptions::gradients and run backpropagation");
  }

  Network network_;
  ExecutorOptions options_;
  const OperatorRegistry& operators_;
  at::Generator generator_;
  EventList events_;
  ExecutionTrace trace_{*this};
  std::vector<ExecutionEvent*> observers_;
  bool end_wanted_ = false, ended_early_ = false;
  double loss_factor_ = 1;

  NetworkMode mode_ = NetworkMode::as_written;
  std::shared_ptr<CompiledNetwork> compiled_;  // null: the mode changed
  std::uint64_t revision_ = 0;
  std::optional<Gradients> gradients_;  // gradients of the last backpropagation
  ValueMap outputs_;
};

/// Keeps autograd's graph of its run, and the compiled program.
class NetworkExecutor::Flight final : public BatchInFlight {
 public:
  Flight(NetworkExecutor& executor, const ValueMap& inputs, Recording recorded,
         std::vector<std::string> seeds)
      : executor_(executor),
        compiled_(executor.compiled_),
        inputs_(inputs),
        recorded_(std::move(recorded)),
        seeds_(std::move(seeds)),
        outputs_(executor.outputs_),
        whole_(!executor.ended_early_) {}

  const ValueMap& outputs() const override { return outputs_; }

  void backward(const ValueMap& output_gradients) override {
    if (!whole_) throw ValueError("this batch's forward run was ended early; run it again");
    if (done_) throw ValueError("this batch has run backward already; run it forward again");
    std::map<std::string, at::Tensor> slopes;
    for (const auto& [name, gradient] : output_gradients) {
      if (std::ranges::find(seeds_, name) == seeds_.end()) {
        throw_unknown_name("output that backward begins at", name, seeds_);
      }
      slopes[name] = wrap(checked(name, gradient));
    }
    done_ = true;
    executor_.collect_observers();
    const at::AutoGradMode recording(true);
    for (auto* observer : executor_.observers_) observer->before_run(Pass::backward);
    gradients_ = executor_.go_back(*compiled_, recorded_, slopes);
    for (auto* observer : executor_.observers_) observer->after_run(Pass::backward);
  }

  const Tensor& gradient(std::string_view name) const override {
    return executor_.gradient_of(gradients_, name);
  }

 private:
  [[nodiscard]] const Tensor& checked(const std::string& name, const Value& given) const {
    const TensorDesc& expected = outputs_.at(name).tensor().desc();
    const Tensor& tensor = given.tensor();
    if (tensor.desc() == expected) return tensor;
    const std::string message = "the gradient of output '" + printable(name) + "' is " +
                                to_string(tensor.desc()) + ", expected " + to_string(expected);
    if (tensor.dtype() != expected.dtype) throw TypeError(message);
    throw ShapeError(message);
  }

  NetworkExecutor& executor_;
  std::shared_ptr<CompiledNetwork> compiled_;
  ValueMap inputs_;  // autograd reads their memory
  Recording recorded_;
  std::vector<std::string> seeds_;
  ValueMap outputs_;
  std::optional<Gradients> gradients_;
  bool whole_, done_ = false;
};

std::unique_ptr<BatchInFlight> NetworkExecutor::forward(const ValueMap& inputs,
                                                        const std::vector<std::string>& outputs) {
  if (outputs.empty()) throw ValueError("forward: name the outputs at which backward will begin");
  for (const auto& name : outputs) expect_output(name);
  begin(inputs);
  const at::AutoGradMode recording(true);
  Recording recorded;
  run(Pass::forward, [&] { return run_forward(&recorded); });
  return std::make_unique<Flight>(*this, inputs, std::move(recorded), outputs);
}

}  // namespace

std::unique_ptr<GraphExecutor> make_network_executor(Network network,
                                                     const ExecutorOptions& options,
                                                     const OperatorRegistry& operators) {
  return std::make_unique<NetworkExecutor>(std::move(network), options, operators);
}

}  // namespace d5::torch
