// SPDX-License-Identifier: Apache-2.0
#include "session_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "known_faults.hpp"
#include "session_profile.hpp"

namespace d5::onnxruntime {

SessionModel::SessionModel(const onnx::Model& model, const ModelTarget& target,
                           const SessionChoice& choice)
    : divisions_(model) {
  if (!target.loss.empty()) {
    throw Unsupported(
        "ONNX Runtime's inference sessions have no gradients; train in another framework, such as "
        "reference");
  }
  expect_no_fault(model, known_faults(), "ONNX Runtime", version());
  if (choice.optimization == Optimization::all) expect_no_fault_of_last_level(model);
  for (const auto* list : {&model.graph.inputs, &model.graph.outputs}) {
    for (const auto& value : *list) names_.push_back(value.name);
  }
  const std::size_t inputs = model.graph.inputs.size(), outputs = model.graph.outputs.size();
  for (std::size_t i = 0; i < names_.size(); ++i) {
    (i < inputs ? input_names_ : output_names_).push_back(names_[i].c_str());
  }
  inputs_.resize(inputs);
  given_.resize(inputs);
  outputs_.resize(outputs);
  taken_.resize(outputs);
  for (const auto& output : model.graph.outputs) {
    const auto same = std::ranges::find(model.graph.inputs, output.name, &onnx::ValueInfo::name);
    passed_.push_back(same == model.graph.inputs.end()
                          ? std::nullopt
                          : std::optional(std::size_t(same - model.graph.inputs.begin())));
  }
  session_ = for_its_sizes_or_any(
      model, target, [&](const onnx::Model& sized) { return open_session(sized, target, choice); });
  for (std::size_t k = 0; k < outputs; ++k) expect_no_optional(k);
  if (target.profiled) put_on_trace(session_);
}

void SessionModel::expect_no_optional(std::size_t output) const {
  const auto type =
      made_by<TypeInfo>(kGetOutputType, static_cast<const Session*>(session_.get()), output);
  ValueType kind = ValueType::unknown;
  kGetKind(static_cast<const TypeInfo*>(type.get()), &kind);
  if (kind != ValueType::optional) return;
  throw Unsupported(fmt::format("output '{}' is an optional; ONNX Runtime returns only its content",
                                output_names_[output]));
}

OrtValue* SessionModel::bind(Bound& bound, const Value& value) {
  const void* data = is_shared(value) ? value.tensor().raw() : nullptr;
  if (!data || data != bound.data) {
    bound.value = to_ort(value);
    bound.data = data;
  }
  return bound.value.get();
}

void SessionModel::run(std::span<const Value* const> inputs, std::span<Value* const> outputs) {
  divisions_.expect_defined(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) given_[i] = bind(inputs_[i], *inputs[i]);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    taken_[k] = is_shared(*outputs[k]) ? bind(outputs_[k], *outputs[k]) : nullptr;
  }
  const RunOptions* usual = nullptr;
  try {
    kRun(session_.get(), usual, input_names_.data(), given_.data(), given_.size(),
         output_names_.data(), taken_.size(), taken_.data());
  } catch (const Error& error) {  // its kernels look at shapes and values only now
    throw Unsupported(error.what());
  }
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (const auto place = passed_[k]) {  // itself, which it does not write
      const Value& input = *inputs[*place];
      if (outputs[k]->is_tensor()) {
        outputs[k]->tensor().copy_from(input.tensor());
      } else {
        *outputs[k] = input.is_tensor() ? Value(input.tensor().copy()) : input;
      }
      continue;
    }
    if (taken_[k] == outputs_[k].value.get()) continue;
    Value result = from_ort(Handle<OrtValue>(taken_[k]));
    if (outputs[k]->is_tensor()) {
      outputs[k]->tensor().copy_from(result.tensor());
    } else {
      *outputs[k] = std::move(result);
    }
  }
}

}  // namespace d5::onnxruntime
