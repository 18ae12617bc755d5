// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "level2_training/data/storage/mapped_file.hpp"

namespace d5::detail {

/// Weights of a model in safetensors files. The files are untrusted, as `read_safetensors` checks
/// them; what is read becomes float32.
class SafetensorsWeights {
 public:
  /// Adds the tensors of a file. Throws: IoError; FormatError, also for a name that another file
  /// has.
  void open(const std::string& path);
  /// The same from bytes that outlive the weights; `who` names them in messages.
  void add(std::string_view file, const std::string& who);

  [[nodiscard]] bool has_tensor(std::string_view name) const { return tensors_.contains(name); }
  [[nodiscard]] std::vector<std::string_view> tensor_names() const;
  /// Throws: FormatError if the tensor is missing, or has another shape; Unsupported for types
  /// other than F32, F16 and BF16.
  void expect_tensor(std::string_view name, const Shape& shape) const;
  /// Writes a tensor's numbers as float32. Throws: as `expect_tensor`.
  void read(std::string_view name, const Shape& shape, std::span<float> into) const;

 private:
  struct Stored {
    TensorDesc desc;
    std::string_view bytes;
    std::string who;  ///< its file
  };
  [[nodiscard]] const Stored& at(std::string_view name) const;

  std::list<MappedFile> mapped_;
  std::map<std::string, Stored, std::less<>> tensors_;
};

}  // namespace d5::detail
