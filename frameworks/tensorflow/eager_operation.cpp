// SPDX-License-Identifier: Apache-2.0
#include "eager_operation.hpp"

#include "d5/core/errors/error.hpp"

namespace d5::tensorflow {
namespace {

constexpr const char* kDevice = "/job:localhost/replica:0/task:0/device:CPU:0";

/// Sets the attribute `name` of `op`; one function per type.
struct Setter {
  TFE_Op* op;
  const char* name;
  TF_Status* status;

  void operator()(std::int64_t value) const { TFE_OpSetAttrInt(op, name, value); }
  void operator()(float value) const { TFE_OpSetAttrFloat(op, name, value); }
  void operator()(bool value) const { TFE_OpSetAttrBool(op, name, value ? 1 : 0); }
  void operator()(TF_DataType value) const { TFE_OpSetAttrType(op, name, value); }
  void operator()(const Shape& value) const {
    TFE_OpSetAttrShape(op, name, value.dims().data(), int(value.rank()), status);
  }
  void operator()(const std::string& value) const {
    TFE_OpSetAttrString(op, name, value.data(), value.size());
  }
  void operator()(const std::vector<std::int64_t>& value) const {
    TFE_OpSetAttrIntList(op, name, value.data(), int(value.size()));
  }
  void operator()(const std::vector<float>& value) const {
    TFE_OpSetAttrFloatList(op, name, value.data(), int(value.size()));
  }
  void operator()(const std::vector<TF_DataType>& value) const {
    TFE_OpSetAttrTypeList(op, name, value.data(), int(value.size()));
  }
};

std::string name_of_attribute(TF_Operation* operation, int i, const Status& status) {
  std::string name(std::size_t(TF_OperationGetAttrNameLength(operation, i)) + 1, '\0');
  TF_OperationGetAttrName(operation, i, name.data(), status);
  name.resize(name.find('\0'));
  return name;
}

}  // namespace

EagerOperation::EagerOperation(TF_Operation* operation, const Runtime& runtime,
                               const std::string& who)
    : type_(TF_OperationOpType(operation)),
      outputs_(TF_OperationNumOutputs(operation)),
      results_(std::size_t(outputs_)) {
  for (int i = 0; i < TF_OperationGetNumAttrs(operation); ++i) {
    std::string name = name_of_attribute(operation, i, status_);
    if (name.starts_with('_')) continue;  // the graph's own notes
    std::optional<Value> value = value_of(operation, name.c_str(), who);
    if (value) attributes_.emplace_back(std::move(name), std::move(*value));
  }
  expect_kernel(who);
  op_.reset(TFE_NewOp(runtime.get(), type_.c_str(), status_));
  status_.expect_supported(who);
}

std::optional<EagerOperation::Value> EagerOperation::value_of(TF_Operation* operation,
                                                              const char* name,
                                                              const std::string& who) const {
  const TF_AttrMetadata metadata = TF_OperationGetAttrMetadata(operation, name, status_);
  status_.expect_supported(who);
  const auto single = [&]<class T>(T value, auto get) -> Value {
    get(operation, name, &value, status_);
    return value;
  };
  const auto list = [&]<class T>(std::vector<T> values, auto get) -> Value {
    values.resize(std::size_t(metadata.list_size));
    get(operation, name, values.data(), int(values.size()), status_);
    return values;
  };
  const bool is_list = metadata.is_list != 0;
  switch (metadata.type) {
    case TF_ATTR_INT:
      return is_list ? list(std::vector<std::int64_t>(), TF_OperationGetAttrIntList)
                     : single(std::int64_t{}, TF_OperationGetAttrInt);
    case TF_ATTR_FLOAT:
      return is_list ? list(std::vector<float>(), TF_OperationGetAttrFloatList)
                     : single(float{}, TF_OperationGetAttrFloat);
    case TF_ATTR_TYPE:
      return is_list ? list(std::vector<TF_DataType>(), TF_OperationGetAttrTypeList)
                     : single(TF_DataType{}, TF_OperationGetAttrType);
    case TF_ATTR_BOOL: {
      unsigned char value = 0;
      TF_OperationGetAttrBool(operation, name, &value, status_);
      return value != 0;
    }
    case TF_ATTR_STRING:
      if (!is_list) {
        std::string text(std::size_t(metadata.total_size), '\0');
        TF_OperationGetAttrString(operation, name, text.data(), text.size(), status_);
        return text;
      }
      if (metadata.list_size == 0) return std::nullopt;
      break;
    case TF_ATTR_SHAPE: {
      if (is_list || metadata.total_size < 0) break;
      std::vector<std::int64_t> dims(std::size_t(metadata.total_size));
      TF_OperationGetAttrShape(operation, name, dims.data(), int(dims.size()), status_);
      return Shape(std::move(dims));
    }
    default:
      break;
  }
  throw Unsupported(who + ": the attribute '" + name + "' of TensorFlow's " + type_ +
                    " is of a kind that eager operations cannot set");
}

void EagerOperation::expect_kernel(const std::string& who) const {
  const std::unique_ptr<TF_AttrBuilder, Deleter<TF_DeleteAttrBuilder>> builder(
      TF_NewAttrBuilder(type_.c_str()));
  for (const auto& [name, value] : attributes_) {
    if (const auto* type = std::get_if<TF_DataType>(&value)) {
      TF_AttrBuilderSetType(builder.get(), name.c_str(), *type);
    } else if (const auto* types = std::get_if<std::vector<TF_DataType>>(&value)) {
      TF_AttrBuilderSetTypeList(builder.get(), name.c_str(), types->data(), int(types->size()));
    }
  }
  TF_AttrBuilderCheckCanRunOnDevice(builder.get(), "CPU", status_);
  status_.expect_supported(who);
}

bool EagerOperation::is_function() const {
  return TF_OpIsStateful(type_.c_str(), status_) == 0 && status_.ok();
}

void EagerOperation::execute(std::span<TFE_TensorHandle* const> arguments, HandlePointer* results,
                             const std::string& who) {
  TFE_OpReset(op_.get(), type_.c_str(), kDevice, status_);
  for (const auto& [name, value] : attributes_) {
    std::visit(Setter{op_.get(), name.c_str(), status_}, value);
  }
  for (TFE_TensorHandle* const argument : arguments) {
    TFE_OpAddInput(op_.get(), argument, status_);
    status_.expect_ok(who);
  }
  int count = outputs_;
  TFE_Execute(op_.get(), results_.data(), &count, status_);
  status_.expect_ok(who);
  for (int i = 0; i < count; ++i) results[i].reset(results_[std::size_t(i)]);
}

}  // namespace d5::tensorflow
