// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "d5/level0_ops/operator/compiled_model.hpp"
#include "integer_divisions.hpp"
#include "ort_value.hpp"
#include "session.hpp"

namespace d5::onnxruntime {

/// A model in an ONNX Runtime session. Inputs, and outputs of known shapes, use d5's memory.
class SessionModel final : public CompiledModel {
 public:
  /// Throws: Unsupported with ONNX Runtime's reason.
  SessionModel(const onnx::Model& model, const ModelTarget& target, const SessionChoice& choice);

  void run(std::span<const Value* const> inputs, std::span<Value* const> outputs) override;
  /// Its kernel compares the addresses, and copies nothing where they are equal.
  [[nodiscard]] bool scatters_in_place() const override { return true; }

 private:
  /// ONNX Runtime's view of d5's memory, from the last run.
  struct Bound {
    const void* data = nullptr;
    Handle<OrtValue> value;
  };
  /// Throws: Unsupported.
  void expect_no_optional(std::size_t output) const;
  [[nodiscard]] static OrtValue* bind(Bound& bound, const Value& value);

  IntegerDivisions divisions_;
  std::shared_ptr<Session> session_;
  std::vector<std::string> names_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<Bound> inputs_, outputs_;
  std::vector<std::optional<std::size_t>> passed_;  ///< inputs that outputs are
  std::vector<const OrtValue*> given_;
  std::vector<OrtValue*> taken_;
};

}  // namespace d5::onnxruntime
