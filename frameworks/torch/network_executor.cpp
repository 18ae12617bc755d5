// SPDX-License-Identifier: Apache-2.0
#include "network_executor.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <map>

#include "d5/core/error.hpp"
#include "d5/core/registry.hpp"
#include "d5/level1_network/execution_trace.hpp"
#include "d5/level1_network/feed.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "gradient_memory.hpp"
#include "planned_node.hpp"

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
    announce([](ExecutionEvent& event) { event.before_run(Pass::forward); });
    run_forward(Mode::inference);
    announce([](ExecutionEvent& event) { event.after_run(Pass::forward); });
    return finish();
  }

  const ValueMap& inference_and_backprop(const ValueMap& inputs, std::string_view loss) override {
    const auto names = network_.output_names();
    if (std::find(names.begin(), names.end(), loss) == names.end()) {
      throw_unknown_name("output", loss, names);
    }
    begin(inputs);
    const at::AutoGradMode recording(true);
    announce([](ExecutionEvent& event) { event.before_run(Pass::backward); });
    for (const auto& name : options_.input_gradients) {
      const auto place = places_.find(name);
      if (place == places_.end()) throw_unknown_name("input", name, network_.input_names());
      at::Tensor& input = values_[place->second];
      input = input.detach().requires_grad_(true);
      watched_[name] = input;
    }
    run_forward(Mode::training);
    run_backward(values_[places_.find(loss)->second], std::string(loss));
    announce([](ExecutionEvent& event) { event.after_run(Pass::backward); });
    return finish();
  }

  const Tensor& input_gradient(std::string_view name) const override {
    const auto place = input_gradients_.find(name);
    if (place != input_gradients_.end()) return place->second;
    throw NotFound("there is no gradient of input '" + printable(name) +
                   "': ask for it in ExecutorOptions::input_gradients and run backpropagation");
  }

  void set_mode(NetworkMode mode) override {
    stale_ = stale_ || mode != mode_;
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
  using Fed = std::vector<std::pair<std::string, TensorDesc>>;
  struct Step {
    StepInfo info;
    PlannedNode planned;
    std::vector<int> finished = {};            // nobody reads them after this step
    std::vector<std::size_t> parameters = {};  // that it reads, in the arena's order
  };

  int place_of(const std::string& name) {
    if (name.empty()) return -1;
    return places_.try_emplace(name, int(places_.size())).first->second;
  }

  void compile() {
    const c10::InferenceMode normal(false);
    auto& parameters = network_.parameters();  // first: laying them out moves them
    steps_.clear();
    places_.clear();
    runnable_ = graph_in_mode(network_, mode_);
    revision_ = network_.revision();
    stale_ = false;
    gradients_.clear();
    input_places_.clear();
    fed_.reset();
    for (const auto& name : network_.input_names()) {
      input_places_[name] = std::size_t(place_of(name));
    }
    for (const auto& node : runnable_.graph.nodes) {
      std::vector<int> inputs, outputs;
      for (const auto& name : node.inputs) inputs.push_back(place_of(name));
      for (const auto& name : node.outputs) outputs.push_back(place_of(name));
      steps_.push_back(
          {.info = {.node = node, .step = steps_.size(), .framework = "torch"},
           .planned = PlannedNode(node, std::move(inputs), std::move(outputs), operators_)});
    }
    outputs_.clear();
    output_places_.clear();
    for (const auto& name : network_.output_names()) {
      output_places_.emplace_back(&outputs_[name], std::size_t(place_of(name)));
    }
    find_last_uses();
    values_.assign(places_.size(), at::Tensor());
    for (const auto& [name, tensor] : runnable_.graph.initializers) {
      if (!network_.is_parameter(name)) values_[std::size_t(place_of_known(name))] = wrap(tensor);
    }
    forget_shapes();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      at::Tensor leaf = wrap(parameters[i].value);
      leaf.requires_grad_(true);
      gradients_.add(leaf, wrap(parameters[i].gradient));
      const int place = place_of_known(parameters[i].name);
      values_[std::size_t(place)] = std::move(leaf);
      for (Step& step : steps_) {
        const auto& inputs = step.planned.inputs();
        if (std::ranges::find(inputs, place) != inputs.end()) step.parameters.push_back(i);
      }
    }
  }

  /// A name that no node reads gets a place of its own.
  int place_of_known(const std::string& name) {
    const int place = place_of(name);
    if (std::size_t(place) >= values_.size()) values_.resize(std::size_t(place) + 1);
    return place;
  }

  /// All nodes are planned anew; known then are the constants that nothing replaces.
  void forget_shapes() {
    for (Step& step : steps_) step.planned.forget();
    known_.assign(values_.size(), {});
    for (const auto& [name, tensor] : runnable_.graph.initializers) {
      if (network_.is_parameter(name) || input_places_.contains(name)) continue;
      known_[std::size_t(places_.at(name))].value = tensor;
    }
    for (const auto& [constant, output] : runnable_.updates) {
      known_[std::size_t(places_.at(constant))].value = {};
    }
  }

  void find_last_uses() {
    std::vector<bool> keep(places_.size(), false);
    for (const auto& name : network_.input_names()) keep[std::size_t(place_of(name))] = true;
    for (const auto& name : network_.output_names()) keep[std::size_t(place_of(name))] = true;
    for (const auto& [constant, output] : runnable_.updates) {
      keep[std::size_t(place_of(output))] = true;
    }
    for (const auto& [name, tensor] : runnable_.graph.initializers) {
      const auto place = places_.find(name);
      if (place != places_.end()) keep[std::size_t(place->second)] = true;
    }
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      for (const auto* list : {&step->planned.inputs(), &step->planned.outputs()}) {
        for (const int place : *list) {
          if (place < 0 || keep[std::size_t(place)]) continue;
          keep[std::size_t(place)] = true;
          step->finished.push_back(place);
        }
      }
    }
  }

  void begin(const ValueMap& inputs) {
    if (stale_ || revision_ != network_.revision()) compile();
    const c10::InferenceMode normal(false);
    if (!fits(inputs)) take(inputs);
    for (const auto& [name, value] : inputs) {
      at::Tensor& held = values_[input_places_.find(name)->second];
      if (!held.defined() || held.const_data_ptr() != value.tensor().raw()) {
        held = wrap(value.tensor());
      }
    }
    events_.collect(observers_);
    if (Trace::on()) [[unlikely]]
      observers_.push_back(&trace_);
  }

  /// Whether these are the inputs of the run before, as far as plans see them.
  bool fits(const ValueMap& inputs) const {
    return fed_ && std::ranges::equal(inputs, *fed_, [](const auto& input, const auto& known) {
             return input.first == known.first && input.second.is_tensor() &&
                    input.second.tensor().desc() == known.second;
           });
  }

  /// From now on these are the inputs.
  void take(const ValueMap& inputs) {
    check_fed(network_, inputs);
    Fed fed;
    for (const auto& [name, value] : inputs) fed.emplace_back(name, value.tensor().desc());
    fed_ = std::move(fed);
    for (const auto& [name, place] : input_places_) values_[place].reset();
    forget_shapes();
  }

  template <class F>
  void announce(F&& f) {
    for (auto* observer : observers_) f(*observer);
  }

  void run_forward(Mode mode) {
    const Random random = generator_;
    for (Step& step : steps_) {
      announce([&](ExecutionEvent& event) { event.before_node(step.info); });
      step.planned.run(values_, known_, random);
      step.info.cost = step.planned.cost();
      if (const int first = step.planned.outputs()[0]; mode == Mode::training && first >= 0) {
        gradients_.expect(values_[std::size_t(first)], step.parameters);
      }
      for (const int place : step.finished) values_[std::size_t(place)].reset();
      announce([&](ExecutionEvent& event) { event.after_node(step.info); });
    }
  }

  void run_backward(const at::Tensor& loss, const std::string& name) {
    if (loss.numel() != 1) throw ShapeError("loss '" + printable(name) + "' is no scalar");
    if (!loss.requires_grad()) {
      throw Unsupported("loss '" + printable(name) + "' does not depend on any parameter");
    }
    gradients_.backward(loss);
    for (auto& [input, tensor] : watched_) {
      const at::Tensor gradient = std::exchange(tensor.mutable_grad(), {});
      input_gradients_[input] =
          share(gradient.defined() ? gradients_.moved_out(gradient) : at::zeros_like(tensor));
    }
    watched_.clear();
    gradients_.finish();
  }

  const ValueMap& finish() {
    const at::AutoGradMode off(false);
    for (const auto& [constant, output] : runnable_.updates) {
      wrap(network_.fetch(constant)).copy_(values_[std::size_t(places_.find(output)->second)]);
    }
    for (const auto& [value, place] : output_places_) *value = share(values_[place].detach());
    return outputs_;
  }

  Network network_;
  ExecutorOptions options_;
  const OperatorRegistry& operators_;
  at::Generator generator_;
  EventList events_;
  ExecutionTrace trace_{*this};
  std::vector<ExecutionEvent*> observers_;

  NetworkMode mode_ = NetworkMode::as_written;
  GraphInMode runnable_;
  std::uint64_t revision_ = 0;
  bool stale_ = false;  // compiled for another mode
  std::map<std::string, int, std::less<>> places_;
  std::vector<Step> steps_;
  std::vector<at::Tensor> values_;
  std::vector<KnownValue> known_;
  GradientMemory gradients_{[this](std::size_t i) {
    announce([&](ExecutionEvent& event) {
      event.gradient_ready(network_.parameters()[i], i, host_stream());
    });
  }};
  std::map<std::string, at::Tensor> watched_;
  std::map<std::string, Tensor, std::less<>> input_gradients_;
  std::map<std::string, std::size_t, std::less<>> input_places_;
  std::optional<Fed> fed_;  // in the last run
  ValueMap outputs_;
  std::vector<std::pair<Value*, std::size_t>> output_places_;  // in outputs_, in values_
};

}  // namespace

std::unique_ptr<GraphExecutor> make_network_executor(Network network,
                                                     const ExecutorOptions& options,
                                                     const OperatorRegistry& operators) {
  return std::make_unique<NetworkExecutor>(std::move(network), options, operators);
}

}  // namespace d5::torch
