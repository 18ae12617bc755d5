// SPDX-License-Identifier: Apache-2.0
#include "layer_times.hpp"

#include <chrono>

#include "d5/core/trace/trace.hpp"
#include "d5/onnx/model.hpp"

namespace d5::openvino {

LayerTimes::LayerTimes(bool wanted) : wanted_(wanted) {
  if (wanted_) begin_ns_ = Trace::now_ns();
}

void LayerTimes::put_on_trace(const ov::InferRequest& request) const {
  if (!wanted_) return;
  const int lane = Trace::lane("openvino");
  std::int64_t begin = begin_ns_;
  for (const ov::ProfilingInfo& layer : request.get_profiling_info()) {
    if (layer.status != ov::ProfilingInfo::Status::EXECUTED) continue;
    onnx::Node node;
    node.name = layer.node_name;
    node.op_type = layer.node_type;
    TraceRecord record{.lane = lane, .level = "operator", .name = onnx::describe(node)};
    record.begin_ns = begin;
    record.end_ns = begin += std::chrono::nanoseconds(layer.real_time).count();
    record.arguments = {{"framework", "openvino"}, {"kernel", layer.exec_type}};
    Trace::add(std::move(record));
  }
}

}  // namespace d5::openvino
