// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "d5/core/tensor/shape.hpp"
#include "runtime.hpp"

namespace d5::tensorflow {

/// An operation of a graph, executed eagerly.
class EagerOperation {
 public:
  /// Throws: Unsupported if the operation has no kernel for its types; `who` begins messages.
  EagerOperation(TF_Operation* operation, const Runtime& runtime, const std::string& who);

  [[nodiscard]] int outputs() const { return outputs_; }
  /// Whether it is a pure function of its arguments.
  [[nodiscard]] bool is_function() const;
  /// Writes `outputs()` results. Throws: as `Status::expect_ok`.
  void execute(std::span<TFE_TensorHandle* const> arguments, HandlePointer* results,
               const std::string& who);

 private:
  using Value =
      std::variant<std::int64_t, float, bool, TF_DataType, std::string, std::vector<std::int64_t>,
                   std::vector<float>, std::vector<TF_DataType>, Shape>;
  /// Empty for an empty list of strings, which is the default of every such attribute.
  [[nodiscard]] std::optional<Value> value_of(TF_Operation* operation, const char* name,
                                              const std::string& who) const;
  void expect_kernel(const std::string& who) const;

  Status status_;
  std::string type_;
  std::vector<std::pair<std::string, Value>> attributes_;
  int outputs_;
  OpPointer op_;
  std::vector<TFE_TensorHandle*> results_;
};

}  // namespace d5::tensorflow
