// SPDX-License-Identifier: Apache-2.0
#include "inference_model.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <openvino/op/matmul.hpp>
#include <openvino/op/parameter.hpp>
#include <openvino/runtime/core.hpp>
#include <openvino/runtime/properties.hpp>
#include <optional>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/model_image.hpp"
#include "known_faults.hpp"
#include "layer_times.hpp"
#include "ov_tensor.hpp"
#include "quantization_faults.hpp"

namespace d5::openvino {
namespace {

/// Compiles a network while oneDNN's limit on instructions is unset. OpenVINO's copy of oneDNN
/// reads the limit once; OpenVINO's own kernels ignore it, and the combination crashes.
void start_without_limit(ov::Core& core) {
  std::map<std::string, std::string> limits;
  for (const char* name : {"DNNL_MAX_CPU_ISA", "ONEDNN_MAX_CPU_ISA"}) {
    if (const char* value = std::getenv(name)) limits[name] = value;
  }
  if (limits.empty()) return;
  for (const auto& [name, value] : limits) unsetenv(name.c_str());
  const auto x = std::make_shared<ov::op::v0::Parameter>(ov::element::f32, ov::Shape{4, 4});
  const auto y = std::make_shared<ov::op::v0::MatMul>(x, x);
  (void)core.compile_model(std::make_shared<ov::Model>(ov::OutputVector{y}, ov::ParameterVector{x}),
                           "CPU");
  for (const auto& [name, value] : limits) setenv(name.c_str(), value.c_str(), 1);
}

/// Never destroyed: its threads may live longer than the program's static objects.
ov::Core& core() {
  static ov::Core& made = []() -> ov::Core& {
    auto& result = *new ov::Core;
    start_without_limit(result);
    return result;
  }();
  return made;
}

ov::AnyMap properties_for(const ModelTarget& target, const InferenceChoice& choice) {
  const ov::element::Type precisions[] = {ov::element::f32, ov::element::bf16, ov::element::f16};
  const ov::hint::PerformanceMode modes[] = {ov::hint::PerformanceMode::LATENCY,
                                             ov::hint::PerformanceMode::THROUGHPUT};
  const int threads = choice.threads > 0 ? int(choice.threads) : target.threads;
  ov::AnyMap properties = {ov::inference_num_threads(threads), ov::num_streams(int(choice.streams)),
                           ov::hint::inference_precision(precisions[std::size_t(choice.precision)]),
                           ov::hint::performance_mode(modes[std::size_t(choice.hint)]),
                           ov::enable_profiling(target.profiled)};
  // Without a stream the calling thread computes alone, and no thread is created. A stream of one
  // thread loses exceptions of layers: OpenVINO 2026.4 then returns whatever was in memory, and
  // runs the lost task again within another model's request, though its own may be gone. OpenVINO
  // creates no more threads than the process has processors.
  cpu_set_t allowed;
  const bool has_one =
      sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) == 1;
  if (threads == 1 || has_one) properties[ov::num_streams.name()] = 0;
  // The calling thread takes part, and must not be moved at each node.
  if (choice.part == Part::node) properties.insert(ov::hint::enable_cpu_pinning(false));
  return properties;
}

/// Sizes in `declared`; empty without a rank.
std::optional<ov::PartialShape> sizes_of(const onnx::Type& type) {
  if (type.kind != ValueKind::tensor || !type.has_shape) return std::nullopt;
  std::vector<ov::Dimension> dims;
  for (const onnx::Dim& dim : type.dims) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    dims.push_back(size ? ov::Dimension(*size) : ov::Dimension());
  }
  return ov::PartialShape(std::move(dims));
}

ov::CompiledModel compile(const onnx::Model& model, const ov::AnyMap& properties) {
  const Span span("openvino", "compile");
  const onnx::ModelImage image(model);
  const auto read = image.path().empty() ? core().read_model(image.bytes(), ov::Tensor())
                                         : core().read_model(image.path());
  return core().compile_model(read, "CPU", properties);
}

/// Compiles a whole network, for the sizes of its inputs, or for any sizes if those prevent it.
ov::CompiledModel compile_network(const onnx::Model& model, const ov::AnyMap& properties,
                                  const ModelTarget& target, Shapes shapes) {
  if (shapes == Shapes::free) return compile(with_open_sizes(model, target), properties);
  return for_its_sizes_or_any(model, target,
                              [&](const onnx::Model& sized) { return compile(sized, properties); });
}

/// Single nodes are often equal: a compiled one is shared while any of them lives.
std::shared_ptr<ov::CompiledModel> compile_once(const onnx::Model& model,
                                                const ov::AnyMap& properties, int threads) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<int, std::string>, std::weak_ptr<ov::CompiledModel>>;
  const std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
  auto& place = known[{threads, onnx::serialize(model)}];
  if (auto shared = place.lock()) return shared;
  auto made = std::make_shared<ov::CompiledModel>(compile(model, properties));
  place = made;
  return made;
}

/// The message without advice on converting models.
std::string reason_of(const ov::Exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find("\nTo facilitate the conversion"));
}

/// Whether the request does not have the tensor's memory yet; it is then set.
bool is_new(const void*& known, const Tensor& tensor) {
  return std::exchange(known, tensor.raw()) != tensor.raw() || !tensor.raw();
}

/// An input used only as a Resize's roi. It matters for tf_crop_and_resize, which OpenVINO refuses;
/// otherwise OpenVINO omits it.
bool is_roi(const onnx::Graph& graph, const std::string& name) {
  if (graph.nodes.size() != 1 || graph.nodes.front().op_type != "Resize") return false;
  const auto& inputs = graph.nodes.front().inputs;
  return inputs.size() > 2 && inputs[1] == name && std::ranges::count(inputs, name) == 1;
}

/// Whether OpenVINO names input `i`, at its index, after the output of a removed node: a Dropout
/// that reads it. If that is an output of the graph, OpenVINO does not write it.
bool is_renamed(const onnx::Graph& graph, std::size_t i,
                const std::vector<ov::Output<const ov::Node>>& ports) {
  if (ports.size() != graph.inputs.size() || ports[i].get_names().contains(graph.inputs[i].name)) {
    return false;
  }
  return std::ranges::any_of(graph.nodes, [&](const onnx::Node& node) {
    return node.op_type == "Dropout" && node.inputs[0] == graph.inputs[i].name &&
           ports[i].get_names().contains(node.outputs[0]) &&
           std::ranges::find(graph.outputs, node.outputs[0], &onnx::ValueInfo::name) ==
               graph.outputs.end();
  });
}

}  // namespace

void InferenceChoice::declare(OptionList& options) {
  options.add("precision", precision, "precision of float32 arithmetic",
              {"float32", "bfloat16", "float16"});
  options.add("hint", hint, "performance hint: optimize for latency or for throughput",
              {"latency", "throughput"});
  options.add("streams", streams,
              "inference requests that could run at once; they share the threads", {.least = 1});
  options.add("shapes", shapes, "shapes to compile for: the inputs', or any", {"given", "free"});
  options.add("threads", threads, "threads of all streams together; 0: as many as d5",
              {.least = 0});
}

InferenceModel::InferenceModel(const onnx::Model& model, const ModelTarget& target,
                               const InferenceChoice& choice)
    : profiled_(target.profiled) {
  if (!target.loss.empty()) {
    throw Unsupported("OpenVINO has no gradients; train in another framework, such as reference");
  }
  expect_no_fault(model, known_faults(), "OpenVINO", ov::get_openvino_version().buildNumber);
  if (choice.part == Part::network) expect_no_quantization_fault(model);
  for (const auto* list : {&model.graph.inputs, &model.graph.outputs}) {
    for (const auto& [name, type] : *list) {
      if (type.kind == ValueKind::none) continue;  // inferred by OpenVINO
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
    compiled_ = choice.part == Part::node ? compile_once(model, properties, target.threads)
                                          : std::make_shared<ov::CompiledModel>(compile_network(
                                                model, properties, target, choice.shapes));
    request_ = compiled_->create_infer_request();
    const auto& given = model.graph.inputs;
    const auto& taken = model.graph.outputs;
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (is_roi(model.graph, given[i].name)) {
        inputs_.emplace_back();
      } else if (is_renamed(model.graph, i, compiled_->inputs())) {
        inputs_.push_back({i});
      } else {
        inputs_.push_back(port_of(compiled_->inputs(), i, given[i]));
      }
    }
    const auto& ports = compiled_->outputs();
    for (std::size_t k = 0; k < taken.size(); ++k) {
      outputs_.push_back(port_of(ports, k, taken[k]));
      for (const auto& input : given) {
        if (!ports[*outputs_[k].index].get_names().contains(input.name)) continue;
        throw Unsupported(fmt::format("OpenVINO takes '{}' for '{}' itself, and does not write it",
                                      printable(taken[k].name), printable(input.name)));
      }
    }
  } catch (const ov::Exception& error) {
    throw Unsupported(
        fmt::format("model '{}': OpenVINO: {}", printable(model.graph.name), reason_of(error)));
  }
}

InferenceModel::Port InferenceModel::port_of(const std::vector<ov::Output<const ov::Node>>& ports,
                                             std::size_t place, const onnx::ValueInfo& value) {
  const auto is_it = [&](const auto& port) { return port.get_names().contains(value.name); };
  // Two outputs may be one tensor with both names: then the index decides.
  const bool in_place = place < ports.size() && is_it(ports[place]);
  const auto found =
      in_place ? ports.begin() + std::ptrdiff_t(place) : std::ranges::find_if(ports, is_it);
  if (found == ports.end()) {
    throw Unsupported(fmt::format("OpenVINO's model has no '{}'", printable(value.name)));
  }
  const auto dims = sizes_of(value.type);
  // With open sizes, dimensions come from the file's declaration, which may be wrong.
  if (dims && dims->is_static() && !found->get_partial_shape().compatible(*dims)) {
    throw Unsupported(fmt::format("OpenVINO gives '{}' the shape {}, where ONNX says {}",
                                  printable(value.name), found->get_partial_shape().to_string(),
                                  onnx::to_string(value.type)));
  }
  return {std::size_t(found - ports.begin())};
}

void InferenceModel::run(std::span<const Value* const> inputs, std::span<Value* const> outputs) {
  try {
    // Sets inputs by index, because an input that is also an output is one tensor with both names.
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& tensor = inputs[i]->tensor();
      if (!inputs_[i].index || !is_new(inputs_[i].data, tensor)) continue;
      request_.set_input_tensor(*inputs_[i].index, view_of(tensor));
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (!outputs[k]->is_tensor() || !is_new(outputs_[k].data, outputs[k]->tensor())) continue;
      request_.set_output_tensor(*outputs_[k].index, view_of(outputs[k]->tensor()));
    }
    const LayerTimes times(profiled_);
    request_.infer();
    times.put_on_trace(request_);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (outputs[k]->is_tensor()) continue;
      *outputs[k] = copy_of(request_.get_output_tensor(*outputs_[k].index));
    }
  } catch (const ov::Exception& error) {  // its layers look at shapes and values only now
    throw Unsupported(fmt::format("OpenVINO: {}", error.what()));
  }
}

}  // namespace d5::openvino
