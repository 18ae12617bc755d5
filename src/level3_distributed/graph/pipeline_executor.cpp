// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/pipeline_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/stream.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/placement.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/graph/network_parts.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level3_distributed/graph/running_statistics.hpp"

namespace d5::detail {
namespace {

/// Removes placement rules without a node in this stage; they are for other stages.
ExecutorOptions options_of_stage(ExecutorOptions options, const Network& whole,
                                 const Network& stage) {
  expect_matches(options.placement, whole);
  std::erase_if(options.placement, [&](const PlacementRule& rule) {
    bool is_used = false;
    onnx::Visitor visitor;
    visitor.otherwise([&](const onnx::Node& node) { is_used = is_used || applies(rule, node); });
    visitor.visit(stage.graph());
    return !is_used;
  });
  return options;
}

/// The same nodes for shape inference: parameters become inputs, without values.
Network structure_of(const Network& network) {
  onnx::Model model = network.model();
  onnx::Graph& graph = model.graph;
  std::erase_if(graph.inputs, [&](const auto& input) { return network.is_parameter(input.name); });
  for (const auto& [name, value] : network.graph().initializers) {
    if (!network.is_parameter(name)) continue;
    graph.inputs.push_back({name, type_of(value)});
    graph.initializers.erase(name);
  }
  Network structure(network.name());
  structure.rewrite(std::move(model));
  return structure;
}

}  // namespace

/// Forwards events of the stage's executor to observers of the whole; of gradients only final ones.
class PipelineExecutor::Relay final : public ExecutionEvent {
 public:
  explicit Relay(PipelineExecutor& pipeline) : pipeline_(pipeline) {}

  void begin() { pipeline_.events_.collect(observers_); }
  void tell_final(std::size_t index) {
    if (observers_.empty()) return;
    Parameter& parameter = pipeline_.view_.parameters()[index];
    for (auto* one : observers_) one->gradient_ready(parameter, index, host_stream());
  }

  void before_run(Pass pass) override {
    for (auto* one : observers_) one->before_run(pass);
  }
  void after_run(Pass pass) override {
    for (auto* one : observers_) one->after_run(pass);
  }
  void before_pass(Pass pass) override {
    for (auto* one : observers_) one->before_pass(pass);
  }
  void after_pass(Pass pass) override {
    for (auto* one : observers_) one->after_pass(pass);
  }
  void before_node(const StepInfo& step) override {
    for (auto* one : observers_) one->before_node(step);
  }
  void after_node(const StepInfo& step) override {
    for (auto* one : observers_) one->after_node(step);
  }
  void before_nested_node(const StepInfo& step) override {
    for (auto* one : observers_) one->before_nested_node(step);
  }
  void after_nested_node(const StepInfo& step) override {
    for (auto* one : observers_) one->after_nested_node(step);
  }

 private:
  PipelineExecutor& pipeline_;
  std::vector<ExecutionEvent*> observers_;
};

PipelineExecutor::PipelineExecutor(const Network& whole, const ExecutorOptions& options, Cut cut)
    : structure_(structure_of(whole)),
      cut_(std::move(cut)),
      loss_weight_(std::make_shared<LossWeight>(structure_, cut_.loss)),
      view_(whole.name()),
      joined_(structure_) {
  if (options.device != Device{}) {
    throw Unsupported(fmt::format(
        "pipeline: the network computes on {}, but its parts run on the host only; leave {} out",
        to_string(options.device), option_word("device")));
  }
  NetworkPart part = cut_out_stage(whole, cut_.starts, cut_.stages->rank(), {.batch = 1});
  find_places(whole);
  view_ = stage_view(whole, part, cut_.stages->rank(), outputs_);
  ExecutorOptions own = options_of_stage(options, whole, part.network);
  stage_ =
      std::make_unique<PipelineStage>(std::move(part), cut_.loss, cut_.stages, cut_.schedule, own);
  relay_ = std::make_shared<Relay>(*this);
  stage_->executor().events().add(relay_);
}

void PipelineExecutor::find_places(const Network& whole) {
  const auto statistics = running_statistics(whole);
  for (const std::string& name : statistics) stage_of_values_[name] = 0;
  for (const auto& [name, value] : whole.graph().initializers) {
    if (whole.is_parameter(name)) stage_of_values_[name] = 0;
  }
  const auto names = whole.output_names();
  const auto& nodes = whole.graph().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int stage = int(std::ranges::upper_bound(cut_.starts, i) - cut_.starts.begin()) - 1;
    for (const auto& name : read_names(nodes[i])) {
      const auto place = stage_of_values_.find(name);
      if (place != stage_of_values_.end()) place->second = stage;
    }
    for (const auto& name : nodes[i].outputs) {
      if (std::ranges::find(names, name) != names.end()) outputs_[name] = stage;
    }
  }
}

const PipelineExecutor::Sizes& PipelineExecutor::sizes_for(std::int64_t samples) {
  const auto known = sizes_.find(samples);
  if (known != sizes_.end()) return known->second;
  Sizes sizes{{Network(view_.name()), {}, {}}, {}};
  for (const CutTensor& tensor : cut_tensors(structure_, cut_.starts, {.batch = samples})) {
    const bool comes = std::ranges::find(tensor.to, cut_.stages->rank()) != tensor.to.end();
    if (is_mine(tensor.from)) sizes.cut.sends.push_back(tensor);
    if (comes) sizes.cut.receives.push_back(tensor);
  }
  const NetworkSummary summary = summarise(structure_, {.batch = samples});
  for (const auto& [name, stage] : outputs_) {
    const ValueDesc& desc = summary.tensors.at(name).desc;
    const bool known_shape =
        desc.is_tensor() &&
        std::ranges::find(desc.tensor.shape.dims(), kUnknownDim) == desc.tensor.shape.dims().end();
    if (!known_shape) {
      throw Unsupported(
          fmt::format("pipeline: output '{}' is not a tensor whose shape is known before it runs, "
                      "so it cannot be sent to another stage; remove it from the outputs",
                      printable(name)));
    }
    sizes.outputs_of.push_back(desc.tensor);
  }
  return sizes_.emplace(samples, std::move(sizes)).first->second;
}

std::vector<MicroBatch> PipelineExecutor::micro_batches_of(const ValueMap& inputs) {
  samples_ = 0;
  for (const auto& [name, value] : inputs) {
    const bool is_whole = value.is_tensor() && value.tensor().shape().rank() == 0;
    if (is_whole) continue;
    if (value.is_tensor() && samples_ == 0) samples_ = value.tensor().shape()[0];
    if (!value.is_tensor() || samples_ == 0 || value.tensor().shape()[0] != samples_) {
      throw ShapeError(fmt::format(
          "pipeline: input '{}' is {}, expected samples in dimension 0, as many as others have "
          "and at least 1, so that it can be cut into micro-batches",
          printable(name), to_string(value.desc())));
    }
  }
  if (samples_ == 0) {
    throw ShapeError(
        "pipeline: no input has samples in dimension 0, which micro-batches are cut "
        "from");
  }
  const std::int64_t count = std::min(cut_.micro_batches, samples_);
  std::vector<MicroBatch> result;
  std::vector<double> weights;
  first_.assign(1, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = first_.back();
    const std::int64_t size = samples_ / count + (i < samples_ % count ? 1 : 0);
    first_.push_back(first + size);
    MicroBatch piece{.values = {}, .factor = 0, .cut = &sizes_for(size).cut};
    for (const auto& [name, value] : inputs) {
      const bool is_whole = value.tensor().shape().rank() == 0;
      piece.values[name] = is_whole ? value : Value(value.tensor().slice(first, first + size));
    }
    weights.push_back(loss_weight_->of(piece.values, size));
    result.push_back(std::move(piece));
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i].factor = loss_factor_ * loss_weight_->share(weights[i], all);
  }
  return result;
}

void PipelineExecutor::begin(const ValueMap& inputs) {
  hear_of_changes();
  relay_->begin();
  micro_batches_ = micro_batches_of(inputs);
  joined_.begin(samples_);
}

const ValueMap& PipelineExecutor::inference(const ValueMap& inputs) {
  begin(inputs);
  stage_->infer(micro_batches_,
                [this](std::size_t i, const ValueMap& outputs) { read(i, outputs); });
  return share_outputs();
}

const ValueMap& PipelineExecutor::inference_and_backprop(const ValueMap& inputs,
                                                         std::string_view loss) {
  if (loss != cut_.loss) {
    throw ValueError(fmt::format("pipeline: backward begins at '{}', but was requested from '{}'",
                                 printable(cut_.loss), printable(loss)));
  }
  begin(inputs);
  stage_->train(
      micro_batches_, [this](std::size_t i, const ValueMap& outputs) { read(i, outputs); },
      [this](std::size_t parameter) { relay_->tell_final(parameter); });
  return share_outputs();
}

void PipelineExecutor::read(std::size_t micro_batch, const ValueMap& outputs) {
  ValueMap mine;
  for (const auto& [name, stage] : outputs_) {
    if (is_mine(stage)) mine[name] = outputs.at(name);
  }
  joined_.add(mine, micro_batches_[micro_batch].values, first_[micro_batch],
              first_[micro_batch + 1] - first_[micro_batch]);
}

const ValueMap& PipelineExecutor::share_outputs() {
  const Sizes& sizes = sizes_for(samples_);
  const double begin = now_seconds();  // the clock includes the wait for outputs of other stages
  std::size_t i = 0;
  for (const auto& [name, stage] : outputs_) {
    const TensorDesc& desc = sizes.outputs_of[i++];
    Value& value = shared_[name];
    if (is_mine(stage)) {
      value = joined_.all().at(name);
    } else if (!value.is_tensor() || value.tensor().desc() != desc) {
      value = Tensor::empty(desc.dtype, desc.shape);
    }
    cut_.stages->broadcast(value.tensor(), stage);
  }
  waited_seconds_ += now_seconds() - begin;
  return shared_;
}

/// The stage's network shares the memory, but must be notified of writes to it.
void PipelineExecutor::hear_of_changes() {
  Network& stage = stage_->network();
  if (view_.revision() != revision_) {
    for (const auto& [name, value] : view_.graph().initializers) {
      if (!view_.is_parameter(name)) stage.feed(name, value);
    }
  }
  if (view_.value_changes() != value_changes_) stage.values_changed();
  revision_ = view_.revision();
  value_changes_ = view_.value_changes();
}

void PipelineExecutor::gather_values(Network& whole) {
  for (const auto& [name, stage] : stage_of_values_) {
    Tensor value = whole.fetch(name);
    if (is_mine(stage)) value.copy_from(view_.fetch(name));
    cut_.stages->broadcast(value, stage);
  }
  whole.values_changed();
}

}  // namespace d5::detail
