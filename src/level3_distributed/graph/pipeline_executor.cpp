// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/pipeline_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/level1_network/network_summary.hpp"
#include "level3_distributed/graph/executor_options.hpp"
#include "level3_distributed/graph/running_statistics.hpp"

namespace d5::detail {
namespace {

/// Whether it changed.
bool overwrite(Tensor into, const Tensor& from) {
  if (into.bytes() == from.bytes() && std::memcmp(into.raw(), from.raw(), from.bytes()) == 0) {
    return false;
  }
  into.copy_from(from);
  return true;
}

}  // namespace

PipelineExecutor::PipelineExecutor(std::shared_ptr<GraphExecutor> whole, Cut cut)
    : whole_(std::move(whole)), cut_(std::move(cut)) {
  const ExecutorOptions options = options_of(*whole_, "pipeline");
  Network& network = whole_->network();
  auto parts = parts_for(1);
  for (const Parameter& parameter : network.parameters()) {
    const auto has = [&](const NetworkPart& part) {
      return part.network.is_parameter(parameter.name);
    };
    const auto place = std::ranges::find_if(parts, has);
    // One that nobody reads has no gradient; stage 0 keeps it.
    stage_of_parameters_.push_back(place == parts.end() ? 0 : int(place - parts.begin()));
  }
  for (int stage = 0; stage < int(parts.size()); ++stage) {
    const Network& part = parts[std::size_t(stage)].network;
    for (const std::string& name : running_statistics(part)) stage_of_statistics_[name] = stage;
    for (const std::string& name : network.output_names()) {
      const auto names = part.output_names();
      const bool writes = std::ranges::any_of(part.graph().nodes, [&](const onnx::Node& node) {
        return std::ranges::find(node.outputs, name) != node.outputs.end();
      });
      if (writes) outputs_.push_back({name, stage});
    }
  }
  stage_ = std::make_unique<PipelineStage>(std::move(parts.at(std::size_t(cut_.stages->rank()))),
                                           cut_.loss, cut_.stages, cut_.schedule, options);
  stage_->executor().set_mode(whole_->mode());
}

std::vector<NetworkPart> PipelineExecutor::parts_for(std::int64_t samples) const {
  return cut_into_stages(whole_->network(), cut_.starts, {.batch = samples});
}

const PipelineExecutor::Sizes& PipelineExecutor::sizes_for(std::int64_t samples) {
  const auto known = sizes_.find(samples);
  if (known != sizes_.end()) return known->second;
  NetworkPart part = std::move(parts_for(samples).at(std::size_t(cut_.stages->rank())));
  Sizes sizes{{Network(part.network.name()), std::move(part.receives), std::move(part.sends)}, {}};
  const NetworkSummary summary = summarise(whole_->network(), {.batch = samples});
  for (const Output& output : outputs_) {
    const ValueDesc& desc = summary.tensors.at(output.name).desc;
    const bool known_shape =
        desc.is_tensor() &&
        std::ranges::find(desc.tensor.shape.dims(), kUnknownDim) == desc.tensor.shape.dims().end();
    if (!known_shape) {
      throw Unsupported(fmt::format(
          "pipeline: output '{}' is no tensor whose shape is known before it runs, so that no "
          "other stage can get it; make it no output",
          printable(output.name)));
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
  first_.assign(1, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = first_.back();
    const std::int64_t size = samples_ / count + (i < samples_ % count ? 1 : 0);
    first_.push_back(first + size);
    MicroBatch piece{.values = {},
                     .factor = loss_factor_ * double(size) / double(samples_),
                     .cut = &sizes_for(size).cut};
    for (const auto& [name, value] : inputs) {
      const bool is_whole = value.tensor().shape().rank() == 0;
      piece.values[name] = is_whole ? value : Value(value.tensor().slice(first, first + size));
    }
    result.push_back(std::move(piece));
  }
  return result;
}

void PipelineExecutor::begin(const ValueMap& inputs) {
  take_values();
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
    throw ValueError(fmt::format("pipeline: it goes back from '{}', and was asked for '{}'",
                                 printable(cut_.loss), printable(loss)));
  }
  begin(inputs);
  stage_->train(micro_batches_,
                [this](std::size_t i, const ValueMap& outputs) { read(i, outputs); });
  give_values();
  return share_outputs();
}

void PipelineExecutor::read(std::size_t micro_batch, const ValueMap& outputs) {
  ValueMap mine;
  for (const Output& output : outputs_) {
    if (output.stage == cut_.stages->rank()) mine[output.name] = outputs.at(output.name);
  }
  joined_.add(mine, first_[micro_batch], first_[micro_batch + 1] - first_[micro_batch]);
}

const ValueMap& PipelineExecutor::share_outputs() {
  const Sizes& sizes = sizes_for(samples_);
  const double begin = now_seconds();  // the clock runs while stages wait for the outputs of others
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const auto& [name, stage] = outputs_[i];
    if (stage == cut_.stages->rank()) {
      shared_[name] = joined_.all().at(name);
    } else {
      const TensorDesc& desc = sizes.outputs_of[i];
      Value& value = shared_[name];
      if (!value.is_tensor() || value.tensor().desc() != desc)
        value = Tensor::empty(desc.dtype, desc.shape);
    }
    cut_.stages->broadcast(shared_[name].tensor(), stage);
  }
  waited_seconds_ += now_seconds() - begin;
  return shared_;
}

void PipelineExecutor::take_values() {
  bool changed = false;
  for (Parameter& parameter : stage_->network().parameters()) {
    changed |= overwrite(parameter.value, whole_->network().fetch(parameter.name));
  }
  for (const auto& [name, stage] : stage_of_statistics_) {
    if (stage != cut_.stages->rank()) continue;
    changed |= overwrite(stage_->network().fetch(name), whole_->network().fetch(name));
  }
  if (changed) stage_->network().values_changed();
}

void PipelineExecutor::give_values() {
  for (const Parameter& parameter : stage_->network().parameters()) {
    whole_->network().parameter(parameter.name).gradient.copy_from(parameter.gradient);
  }
  for (const auto& [name, stage] : stage_of_statistics_) {
    if (stage != cut_.stages->rank()) continue;
    Tensor running = whole_->network().fetch(name);
    running.copy_from(stage_->network().fetch(name));
  }
}

void PipelineExecutor::gather_values() {
  auto& parameters = whole_->network().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    cut_.stages->broadcast(parameters[i].value, stage_of_parameters_[i]);
  }
  for (const auto& [name, stage] : stage_of_statistics_) {
    Tensor running = whole_->network().fetch(name);
    cut_.stages->broadcast(running, stage);
  }
  whole_->network().values_changed();
}

}  // namespace d5::detail
