// SPDX-License-Identifier: Apache-2.0
#include "inference_model.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>
#include <utility>

#include "d5/core/error.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/model_image.hpp"
#include "layer_times.hpp"
#include "ov_tensor.hpp"

namespace d5::openvino {
namespace {

/// Never destroyed: its threads may live longer than the program's static objects.
ov::Core& core() {
  static ov::Core& made = *new ov::Core;
  return made;
}

ov::AnyMap properties_for(const ModelTarget& target, const InferenceChoice& choice) {
  const ov::element::Type precisions[] = {ov::element::f32, ov::element::bf16, ov::element::f16};
  const ov::hint::PerformanceMode modes[] = {ov::hint::PerformanceMode::LATENCY,
                                             ov::hint::PerformanceMode::THROUGHPUT};
  return {ov::inference_num_threads(choice.threads > 0 ? int(choice.threads) : target.threads),
          ov::num_streams(int(choice.streams)),
          ov::hint::inference_precision(precisions[std::size_t(choice.precision)]),
          ov::hint::performance_mode(modes[std::size_t(choice.hint)]),
          ov::enable_profiling(target.profiled)};
}

ov::CompiledModel compile(const onnx::Model& model, const ov::AnyMap& properties) {
  const onnx::ModelImage image(model);
  return core().compile_model(image.path().empty() ? core().read_model(image.bytes(), ov::Tensor())
                                                   : core().read_model(image.path()),
                              "CPU", properties);
}

/// Single nodes are often alike: what was compiled for one serves the next.
ov::CompiledModel compile_once(const onnx::Model& model, const ov::AnyMap& properties,
                               int threads) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<int, std::string>, ov::CompiledModel>;
  constexpr std::size_t kMost = 1000;  // a few KiB each
  const std::pair key{threads, onnx::serialize(model)};
  const std::lock_guard lock(mutex);
  const auto place = known.find(key);
  if (place != known.end()) return place->second;
  if (known.size() == kMost) known.clear();
  return known[key] = compile(model, properties);
}

}  // namespace

void InferenceChoice::declare(OptionList& options) {
  options.add("precision", precision, "of arithmetic on float32",
              {"float32", "bfloat16", "float16"});
  options.add("hint", hint, "what is to be short", {"latency", "throughput"});
  options.add("streams", streams, "requests that could run at once, which share the threads",
              {.least = 1});
  options.add("threads", threads, "of all streams; 0: as many as d5", {.least = 0});
}

InferenceModel::InferenceModel(const onnx::Model& model, const ModelTarget& target,
                               const InferenceChoice& choice)
    : profiled_(target.profiled) {
  if (!target.loss.empty()) {
    throw Unsupported("OpenVINO has no gradients; train in another framework, such as reference");
  }
  for (const auto* list : {&model.graph.inputs, &model.graph.outputs}) {
    for (const auto& [name, type] : *list) {
      if (type.kind == ValueKind::none) continue;  // OpenVINO's rules tell it
      ValueDesc desc = TensorDesc{type.dtype, {}};
      desc.kind = type.kind;
      if (const auto why = refusal(desc); !why.empty()) {
        throw Unsupported(fmt::format("model '{}': OpenVINO does not take '{}', {}",
                                      printable(model.graph.name), printable(name), why));
      }
    }
  }
  try {
    const ov::AnyMap properties = properties_for(target, choice);
    compiled_ = choice.reused == Reused::yes ? compile_once(model, properties, target.threads)
                                             : compile(model, properties);
    request_ = compiled_.create_infer_request();
    for (const auto& input : model.graph.inputs) {
      inputs_.push_back({compiled_.input(input.name)});
    }
    for (const auto& output : model.graph.outputs) {
      outputs_.push_back({compiled_.output(output.name)});
    }
  } catch (const ov::Exception& error) {
    throw Unsupported(
        fmt::format("model '{}': OpenVINO: {}", printable(model.graph.name), error.what()));
  }
}

void InferenceModel::bind(Port& port, const Value& value) {
  const Tensor& tensor = value.tensor();
  if (port.data && tensor.raw() == port.data) return;
  request_.set_tensor(port.port, view_of(tensor));
  port.data = tensor.raw();
}

void InferenceModel::run(std::span<const Value* const> inputs, std::span<Value* const> outputs) {
  try {
    for (std::size_t i = 0; i < inputs.size(); ++i) bind(inputs_[i], *inputs[i]);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k]->is_tensor()) bind(outputs_[k], *outputs[k]);
    }
    const LayerTimes times(profiled_);
    request_.infer();
    times.put_on_trace(request_);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k]->is_tensor()) continue;
      *outputs[k] = copy_of(request_.get_tensor(outputs_[k].port));
    }
  } catch (const ov::Exception& error) {
    throw Error(fmt::format("OpenVINO: {}", error.what()));
  }
}

}  // namespace d5::openvino
