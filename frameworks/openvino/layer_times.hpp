// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <openvino/runtime/infer_request.hpp>

namespace d5::openvino {

/// OpenVINO's times of a run's layers, for the trace. They are in execution order but without start
/// times, so they are placed one after another from the start of the run.
class LayerTimes {
 public:
  /// Made when the run begins.
  explicit LayerTimes(bool wanted);
  void put_on_trace(const ov::InferRequest& request) const;

 private:
  bool wanted_;
  std::int64_t begin_ns_ = 0;
};

}  // namespace d5::openvino
