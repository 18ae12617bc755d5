// SPDX-License-Identifier: Apache-2.0
#include "resource_optimizer.hpp"

#include <array>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/optimizer_options.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "eager_program.hpp"
#include "variable.hpp"

namespace d5::tensorflow {
namespace {

/// One of TensorFlow's update operations, applied to one parameter at a time.
class ResourceOptimizer : public UpdateRuleOptimizer {
 public:
  /// `slots`: names of its state per parameter.
  ResourceOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss,
                    const std::vector<std::string>& slots)
      : UpdateRuleOptimizer(std::move(executor), std::move(loss)) {
    Network& network = this->executor().network();
    for (const auto& slot : slots) slots_.emplace_back(slot, network);
    updates_.resize(network.parameters().size());
  }

  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    expect_begun(index);
    Update& update = prepared(parameter, index);
    TFE_TensorHandle* const value = update.parameter.of(parameter.value);
    update.value->assign(value);
    TFE_TensorHandle* slope = update.gradient.of(gradient);
    HandlePointer decayed;
    if (weight_decay() != 0) {
      if (!update.decay || update.decayed_by != weight_decay()) add_decay(update, parameter);
      update.decay->run(std::array{slope, value});
      decayed.reset(TFE_NewTensorHandle(update.decay->result(0).get(), status_));
      status_.expect_ok(kWho);
      slope = decayed.get();
    }
    const auto arguments = this->arguments(update, slope, parameter.value.dtype());
    update.apply->execute(arguments, nullptr, kWho);
    update.value->read(parameter.value);
  }

  ValueMap rule_state() const override {
    ValueMap state;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      for (std::size_t i = 0; i < updates_.size(); ++i) {
        if (!updates_[i].apply) continue;
        Tensor copy = slots_[s][i].copy();  // copies, so that saved states stay unchanged
        updates_[i].slots[s].read(copy);
        slots_[s][i] = copy;
      }
      slots_[s].save(state);
    }
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    for (auto& slot : slots_) slot.restore(state);
    for (std::size_t i = 0; i < updates_.size(); ++i) take_slots(i);
  }

 protected:
  static constexpr const char* kWho = "an optimizer of TensorFlow's";

  struct Update {
    std::optional<Variable> value;
    std::deque<Variable> slots;
    std::optional<EagerOperation> apply;
    std::optional<EagerProgram> decay;
    double decayed_by = 0;
    HandleView parameter, gradient;
  };

  /// The operation, whose scalars are all `scalar` here, and its arguments in each step.
  virtual Term operation(Graph& graph, Term value, const Terms& slots, Term scalar,
                         Term gradient) const = 0;
  virtual std::vector<TFE_TensorHandle*> arguments(Update& update, TFE_TensorHandle* gradient,
                                                   DType dtype) = 0;
  [[nodiscard]] virtual double weight_decay() const = 0;

  /// A scalar argument, cached under `key` until the value changes.
  TFE_TensorHandle* scalar(int key, double value, DType dtype) {
    Scalar& kept = scalars_[{key, dtype}];
    if (!kept.handle || kept.value != value) {
      const Tensor tensor =
          dtype == DType::float64 ? Tensor::scalar(value) : Tensor::scalar(float(value));
      kept.handle = handle_of(tensor);
      kept.value = value;
    }
    return kept.handle.get();
  }

 private:
  [[nodiscard]] HandlePointer handle_of(const Tensor& tensor) const {
    HandlePointer handle(TFE_NewTensorHandle(copied(tensor).get(), status_));
    status_.expect_ok(kWho);
    return handle;
  }

  struct Scalar {
    double value = 0;
    HandlePointer handle;
  };

  Update& prepared(const Parameter& parameter, std::size_t index) {
    Update& update = updates_[index];
    if (update.apply) return update;
    const TensorDesc& desc = parameter.value.desc();
    if (desc.dtype != DType::float32 && desc.dtype != DType::float64) {
      throw Unsupported(std::string(kWho) + " updates float32 and float64, but parameter '" +
                        printable(parameter.name) + "' is " + to_string(desc));
    }
    Graph graph(kWho);
    update.value.emplace(graph, *runtime_, desc);
    Terms slots;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      slots.push_back(update.slots.emplace_back(graph, *runtime_, desc).term());
    }
    take_slots(index);
    const Term gradient = graph.placeholder(desc), scalar = graph.placeholder({desc.dtype, {}});
    update.apply.emplace(operation(graph, update.value->term(), slots, scalar, gradient).oper,
                         *runtime_, kWho);
    return update;
  }

  void add_decay(Update& update, const Parameter& parameter) {
    Graph graph(kWho);
    const TensorDesc& desc = parameter.value.desc();
    const Term gradient = graph.placeholder(desc), old = graph.placeholder(desc);
    const Term pull = graph.add("Mul", {old, graph.number(weight_decay(), old)});
    update.decay.emplace(graph, Terms{gradient, old}, Terms{graph.add("AddV2", {gradient, pull})});
    update.decayed_by = weight_decay();
  }

  void take_slots(std::size_t index) {
    Update& update = updates_[index];
    for (std::size_t s = 0; s < update.slots.size(); ++s) {
      // A copy, because the slot may be replaced before the variable is updated.
      update.slots[s].assign(handle_of(slots_[s][index]).get());
    }
  }

  std::shared_ptr<Runtime> runtime_ = Runtime::current();
  Status status_;
  mutable std::deque<ParameterSlots> slots_;  ///< as last read or restored
  mutable std::deque<Update> updates_;
  std::map<std::pair<int, DType>, Scalar> scalars_;
};

/// w -= learning_rate g
class Sgd final : public ResourceOptimizer {
 public:
  using Options = SgdOptions;
  Sgd(std::shared_ptr<GraphExecutor> executor, std::string loss, const SgdOptions& options)
      : ResourceOptimizer(std::move(executor), std::move(loss), {}), options_(options) {
    hyper_parameters().bind(options_);
  }

 private:
  Term operation(Graph& graph, Term value, const Terms&, Term scalar,
                 Term gradient) const override {
    return graph.add("ResourceApplyGradientDescent", {value, scalar, gradient});
  }
  std::vector<TFE_TensorHandle*> arguments(Update& update, TFE_TensorHandle* gradient,
                                           DType dtype) override {
    return {update.value->resource(), scalar(0, options_.learning_rate, dtype), gradient};
  }
  [[nodiscard]] double weight_decay() const override { return options_.weight_decay; }
  SgdOptions options_;
};

/// v = momentum v + g; w -= learning_rate v, or learning_rate (g + momentum v)
class Momentum final : public ResourceOptimizer {
 public:
  using Options = MomentumOptions;
  Momentum(std::shared_ptr<GraphExecutor> executor, std::string loss,
           const MomentumOptions& options)
      : ResourceOptimizer(std::move(executor), std::move(loss), {"velocity"}), options_(options) {
    if (options.dampening != 0) {
      throw Unsupported(
          "optimizer momentum of tensorflow: dampening is not supported; momentum and "
          "torch/momentum have it");
    }
    hyper_parameters().bind(options_);
  }

 private:
  Term operation(Graph& graph, Term value, const Terms& slots, Term scalar,
                 Term gradient) const override {
    return graph.add("ResourceApplyMomentum", {value, slots[0], scalar, gradient, scalar},
                     {{"use_nesterov", options_.nesterov}});
  }
  std::vector<TFE_TensorHandle*> arguments(Update& update, TFE_TensorHandle* gradient,
                                           DType dtype) override {
    return {update.value->resource(), update.slots[0].resource(),
            scalar(0, options_.learning_rate, dtype), gradient,
            scalar(1, options_.momentum, dtype)};
  }
  [[nodiscard]] double weight_decay() const override { return options_.weight_decay; }
  MomentumOptions options_;
};

/// Kingma and Ba (2014). TensorFlow adds its epsilon to the uncorrected moment. Its epsilon is set
/// to the corrected value, so that the update is the paper's.
class Adam final : public ResourceOptimizer {
 public:
  using Options = AdamOptions;
  Adam(std::shared_ptr<GraphExecutor> executor, std::string loss, const AdamOptions& options)
      : ResourceOptimizer(std::move(executor), std::move(loss), {"first_moment", "second_moment"}),
        options_(options) {
    if (options.amsgrad) {
      throw Unsupported(
          "optimizer adam of tensorflow: amsgrad is not supported; adam and torch/adam have it");
    }
    hyper_parameters().bind(options_);
  }

  void begin_update() override {
    ResourceOptimizer::begin_update();
    ++step_;
  }
  ValueMap rule_state() const override {
    ValueMap state = ResourceOptimizer::rule_state();
    state["step"] = Tensor::scalar(step_);
    return state;
  }
  void restore_rule(const ValueMap& state) override {
    step_ = state_entry(state, "step", "optimizer adam of tensorflow").item<std::int64_t>();
    ResourceOptimizer::restore_rule(state);
  }

 private:
  Term operation(Graph& graph, Term value, const Terms& slots, Term scalar,
                 Term gradient) const override {
    return graph.add("ResourceApplyAdam", {value, slots[0], slots[1], scalar, scalar, scalar,
                                           scalar, scalar, scalar, gradient});
  }
  std::vector<TFE_TensorHandle*> arguments(Update& update, TFE_TensorHandle* gradient,
                                           DType dtype) override {
    // The moments decay by the betas as rounded by TensorFlow, so their correction uses these.
    const double first = 1 - std::pow(rounded(options_.beta1, dtype), double(step_));
    const double root = std::sqrt(1 - std::pow(rounded(options_.beta2, dtype), double(step_)));
    // Passes powers of zero: in float32 TensorFlow would lose digits of 1 - power, so the rate
    // includes both.
    return {update.value->resource(),
            update.slots[0].resource(),
            update.slots[1].resource(),
            scalar(0, 0, dtype),
            scalar(0, 0, dtype),
            scalar(1, options_.learning_rate * root / first, dtype),
            scalar(2, options_.beta1, dtype),
            scalar(3, options_.beta2, dtype),
            scalar(4, options_.epsilon * root, dtype),
            gradient};
  }
  static double rounded(double number, DType dtype) {
    return dtype == DType::float32 ? double(float(number)) : number;
  }

  [[nodiscard]] double weight_decay() const override { return options_.weight_decay; }
  AdamOptions options_;
  std::int64_t step_ = 0;
};

}  // namespace

void register_optimizers(NativeOptimizers& registry) {
  registry.add("sgd", OptimizerEntry::of<Sgd>("TensorFlow's ResourceApplyGradientDescent"));
  registry.add("momentum", OptimizerEntry::of<Momentum>("TensorFlow's ResourceApplyMomentum"));
  registry.add("adam", OptimizerEntry::of<Adam>("TensorFlow's ResourceApplyAdam"));
}

}  // namespace d5::tensorflow
