// SPDX-License-Identifier: Apache-2.0
#include "onnx/data_file.hpp"

#include <filesystem>

#include "d5/onnx/visitor.hpp"
#include "onnx/packed.hpp"
#include "onnx/tensor_proto.hpp"

namespace d5::onnx::detail {
namespace {

/// Page-aligned, so that a reader may map tensors.
constexpr std::uint64_t kAlignment = 4096;

std::size_t bytes_of_initializers(const Graph& graph) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : graph.initializers) {
    if (tensor.dtype() != DType::string) bytes += file_bytes(tensor.dtype(), tensor.elements());
  }
  for (const auto& node : graph.nodes) {
    for (const auto& [attribute, inner] : subgraphs(node)) bytes += bytes_of_initializers(*inner);
  }
  return bytes;
}

}  // namespace

bool needs_data_file(const Graph& graph, const SaveOptions& options) {
  return options.external_data || bytes_of_initializers(graph) > options.most_message_bytes;
}

DataFile::DataFile(const std::string& path, std::size_t least_bytes)
    : file_(path),
      location_(std::filesystem::path(path).filename().string()),
      least_bytes_(least_bytes) {}

void DataFile::write(const Tensor& tensor, const std::string& name, ::onnx::TensorProto& proto) {
  const DType dtype = tensor.dtype();
  const std::size_t bytes = dtype == DType::string ? 0 : file_bytes(dtype, tensor.elements());
  if (bytes == 0 || bytes < least_bytes_) return write_tensor(tensor, name, proto);
  const std::uint64_t begin = (end_ + kAlignment - 1) / kAlignment * kAlignment;
  file_.write(std::string(begin - end_, '\0'));
  if (is_packed(dtype)) {
    file_.write(pack(tensor));
  } else {
    file_.write({static_cast<const char*>(tensor.raw()), bytes});
  }
  end_ = begin + bytes;
  write_desc(tensor, name, proto);
  proto.set_data_location(::onnx::TensorProto::EXTERNAL);
  const auto add = [&](const char* key, const std::string& value) {
    auto& entry = *proto.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location_);
  add("offset", std::to_string(begin));
  add("length", std::to_string(bytes));
}

}  // namespace d5::onnx::detail
