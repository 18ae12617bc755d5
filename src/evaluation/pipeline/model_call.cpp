// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/pipeline/model_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "evaluation/pipeline/batch_axis.hpp"
#include "evaluation/pipeline/filled_tensor.hpp"
#include "evaluation/pipeline/network_answer.hpp"

namespace d5 {
namespace {

/// The description of a fixed input in a call of one sample.
TensorDesc begun(TensorDesc desc) {
  std::vector<std::int64_t> sizes(desc.shape.dims().begin(), desc.shape.dims().end());
  std::ranges::replace(sizes, kUnknownDim, 0);
  desc.shape = Shape(std::move(sizes));
  return desc;
}

Tensor stacked(const std::vector<Tensor>& frames, const std::string& output) {
  std::vector<Tensor> rows;
  for (const Tensor& frame : frames) rows.push_back(detail::with_axis(frame, 0));
  return detail::joined(rows, 0, "frames of output " + output);
}

}  // namespace

std::int64_t ModelCall::axis_of(const std::string& name) const {
  const auto place = batch_axes.find(name);
  return place == batch_axes.end() ? 0 : place->second;
}

Tensor ModelCall::single(const std::string& input, const Tensor& prepared) const {
  const std::int64_t axis = axis_of(input);
  return axis == kNoBatch || frames.contains(input) ? prepared : detail::with_axis(prepared, axis);
}

/// Whether an input or output, but a constant, has no batch.
bool ModelCall::takes_single_samples() const {
  return std::ranges::any_of(batch_axes, [&](const auto& one) {
    const auto& [name, axis] = one;
    const bool is_state =
        std::ranges::any_of(state, [&](const auto& back) { return back.second == name; });
    return axis == kNoBatch && (is_state || !fixed.contains(name));
  });
}

/// The calls of some items: what each feeds, and what came so far.
class ModelCall::Run {
 public:
  Run(const ModelCall& call, std::span<PipelineItem* const> items)
      : call_(call), items_(items.begin(), items.end()) {
    if (items_.empty()) throw ValueError("pipeline: a batch of no samples");
    for (const PipelineItem* item : items_) lengths_.push_back(frames_of(*item));
    most_ = *std::ranges::max_element(lengths_);
    for (const auto& [output, input] : call_.state) {
      const Tensor first = fixed(input);
      states_[input].assign(items_.size(), first);
    }
  }

  [[nodiscard]] std::int64_t calls() const { return most_; }

  /// The inputs of call `frame`: of all items that have it.
  [[nodiscard]] ValueMap inputs(std::int64_t frame) const {
    const auto there = items_with(frame);
    ValueMap inputs;
    for (const auto& [name, value] : items_.front()->inputs) {
      inputs[name] = gathered(name, there, [&, &name = name](std::size_t i) {
        const Tensor& prepared = items_[i]->inputs.at(name).tensor();
        if (!call_.frames.contains(name)) return prepared;
        return batched(name, detail::row_of(prepared, 0, frame));
      });
    }
    for (const auto& [name, fixed_input] : call_.fixed) {
      const auto state = states_.find(name);
      inputs[name] = gathered(name, there, [&, &name = name](std::size_t i) {
        return state == states_.end() ? fixed(name) : state->second[i];
      });
    }
    return inputs;
  }

  void take(const ValueMap& outputs, std::int64_t frame) {
    const auto there = items_with(frame);
    for (const auto& [name, value] : outputs) {
      const std::int64_t axis = call_.axis_of(name);
      detail::expect_batch(name, value.tensor(), axis, std::int64_t(there.size()));
      const auto back = call_.state.find(name);
      for (std::size_t row = 0; row < there.size(); ++row) {  // copied: the predictor's own change
        Tensor part = axis == kNoBatch ? value.tensor().copy()
                                       : detail::row_of(value.tensor(), axis, std::int64_t(row));
        if (back != call_.state.end()) {
          states_.at(back->second)[there[row]] = batched(back->second, part);
        } else if (call_.streams()) {
          frames_[name].resize(items_.size());
          frames_[name][there[row]].push_back(std::move(part));
        } else {
          items_[there[row]]->answer[name] = std::move(part);
        }
      }
    }
  }

  void finish() {
    for (const auto& [name, by_item] : frames_) {
      for (std::size_t i = 0; i < items_.size(); ++i) {
        items_[i]->answer[name] = stacked(by_item[i], name);
      }
    }
    for (PipelineItem* item : items_) {
      item->attempt([&] { detail::expect_numbers(item->answer); });
    }
  }

 private:
  [[nodiscard]] std::int64_t frames_of(const PipelineItem& item) const {
    if (!call_.streams()) return 1;
    std::int64_t frames = -1;
    for (const auto& [name, value] : item.inputs) {
      if (!call_.frames.contains(name)) continue;
      const std::int64_t here = value.tensor().shape()[0];
      if (here == 0 || (frames >= 0 && here != frames)) {
        throw ShapeError(fmt::format("pipeline: input '{}' of sample {} has {} frames, expected {}",
                                     printable(name), item.sample, here,
                                     frames > 0 ? fmt::to_string(frames) : "one or more"));
      }
      frames = here;
    }
    if (frames > 0) return frames;
    throw ShapeError(
        "pipeline: no input has frames, which a network with state gets one by one; give its "
        "steps 'frames'");
  }

  [[nodiscard]] std::vector<std::size_t> items_with(std::int64_t frame) const {
    std::vector<std::size_t> there;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (frame < lengths_[i]) there.push_back(i);
    }
    return there;
  }

  /// One sample's tensor as a call of one has it.
  [[nodiscard]] Tensor batched(const std::string& name, const Tensor& tensor) const {
    const std::int64_t axis = call_.axis_of(name);
    return axis == kNoBatch ? tensor : detail::with_axis(tensor, axis);
  }
  [[nodiscard]] Tensor fixed(const std::string& name) const {
    const Fixed& one = call_.fixed.at(name);
    return batched(name, detail::filled_tensor(begun(one.desc), one.value));
  }

  template <class Part>
  [[nodiscard]] Tensor gathered(const std::string& name, const std::vector<std::size_t>& there,
                                const Part& part_of) const {
    if (call_.axis_of(name) == kNoBatch) return part_of(there.front());
    std::vector<Tensor> parts;
    for (const std::size_t i : there) parts.push_back(part_of(i));
    return detail::joined(parts, call_.axis_of(name), name);
  }

  const ModelCall& call_;
  std::vector<PipelineItem*> items_;
  std::vector<std::int64_t> lengths_;
  std::int64_t most_ = 1;
  std::map<std::string, std::vector<Tensor>> states_;               ///< by input, then item
  std::map<std::string, std::vector<std::vector<Tensor>>> frames_;  ///< by output, then item
};

ValueMap ModelCall::first_inputs(std::span<PipelineItem* const> items) const {
  const bool single = !items.empty() && takes_single_samples();
  return Run(*this, single ? items.first(1) : items).inputs(0);
}

void ModelCall::predict(Predictor& predictor, std::span<PipelineItem* const> items) const {
  if (items.size() > 1 && takes_single_samples()) {
    for (std::size_t i = 0; i < items.size(); ++i) predict(predictor, items.subspan(i, 1));
    return;
  }
  Run run(*this, items);
  for (std::int64_t frame = 0; frame < run.calls(); ++frame) {
    run.take(predictor.predict(run.inputs(frame)), frame);
  }
  run.finish();
}

}  // namespace d5
