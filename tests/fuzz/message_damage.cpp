// SPDX-License-Identifier: Apache-2.0
#include "fuzz/message_damage.hpp"

#include <onnx/onnx_pb.h>

#include <vector>

#include "fuzz/mutation.hpp"

namespace d5::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// A field of some message, and what all of them are called: a name that stands elsewhere makes the
/// most of a model.
struct Fields {
  std::vector<std::pair<Message*, const FieldDescriptor*>> all;
  std::vector<std::string> texts;
};

void collect_fields(Message& message, Fields& into) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> set;
  reflection.ListFields(message, &set);
  for (const FieldDescriptor* field : set) {
    into.all.emplace_back(&message, field);
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        collect_fields(field->is_repeated() ? *reflection.MutableRepeatedMessage(&message, field, i)
                                            : *reflection.MutableMessage(&message, field),
                       into);
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        into.texts.push_back(field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                  : reflection.GetString(message, field));
      }
    }
  }
}

class FieldChange {
 public:
  FieldChange(Message& message, const FieldDescriptor& field, const Fields& fields,
              RandomStream& random)
      : message_(message),
        field_(field),
        reflection_(*message.GetReflection()),
        fields_(fields),
        random_(random) {}

  void make() {
    if (field_.is_repeated()) {
      change_list();
    } else if (field_.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE || one_in(random_, 12)) {
      if (one_in(random_, 3)) reflection_.ClearField(&message_, &field_);
    } else {
      write();
    }
  }

 private:
  void change_list() {
    const int size = reflection_.FieldSize(message_, &field_);
    const auto place = [&] { return int(random_.below(std::uint64_t(size))); };
    switch (random_.below(4)) {
      case 0:
        reflection_.SwapElements(&message_, &field_, place(), size - 1);
        reflection_.RemoveLast(&message_, &field_);
        return;
      case 1:
        reflection_.SwapElements(&message_, &field_, place(), place());
        return;
      case 2:
        if (field_.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
          const int from = place();
          Message* added = reflection_.AddMessage(&message_, &field_);
          added->CopyFrom(reflection_.GetRepeatedMessage(message_, &field_, from));
        } else {
          write(size);
        }
        return;
      default:
        write(place());
    }
  }

  std::string text() {
    switch (random_.below(4)) {
      case 0:
        return some_text(random_);
      case 1:
        return with_damage(pick(random_, fields_.texts), random_);
      default:
        return pick(random_, fields_.texts);
    }
  }
  int enum_number() {
    const auto& type = *field_.enum_type();
    return type.value(int(random_.below(std::uint64_t(type.value_count()))))->number();
  }

  /// Writes something into the field, or into element `i` of a repeated one; behind the last, a new
  /// one.
  void write(int i = 0) {
    switch (field_.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return put(i, &Reflection::SetInt32, &Reflection::SetRepeatedInt32, &Reflection::AddInt32,
                   std::int32_t(some_integer(random_)));
      case FieldDescriptor::CPPTYPE_INT64:
        return put(i, &Reflection::SetInt64, &Reflection::SetRepeatedInt64, &Reflection::AddInt64,
                   some_integer(random_));
      case FieldDescriptor::CPPTYPE_UINT32:
        return put(i, &Reflection::SetUInt32, &Reflection::SetRepeatedUInt32,
                   &Reflection::AddUInt32, std::uint32_t(some_integer(random_)));
      case FieldDescriptor::CPPTYPE_UINT64:
        return put(i, &Reflection::SetUInt64, &Reflection::SetRepeatedUInt64,
                   &Reflection::AddUInt64, std::uint64_t(some_integer(random_)));
      case FieldDescriptor::CPPTYPE_BOOL:
        return put(i, &Reflection::SetBool, &Reflection::SetRepeatedBool, &Reflection::AddBool,
                   one_in(random_, 2));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return put(i, &Reflection::SetDouble, &Reflection::SetRepeatedDouble,
                   &Reflection::AddDouble, some_real(random_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return put(i, &Reflection::SetFloat, &Reflection::SetRepeatedFloat, &Reflection::AddFloat,
                   float(some_real(random_)));
      case FieldDescriptor::CPPTYPE_STRING:
        return put(i, &Reflection::SetString, &Reflection::SetRepeatedString,
                   &Reflection::AddString, text());
      case FieldDescriptor::CPPTYPE_ENUM:
        return put(i, &Reflection::SetEnumValue, &Reflection::SetRepeatedEnumValue,
                   &Reflection::AddEnumValue, enum_number());
      default:
        return;  // a message, whose own fields are changed
    }
  }
  template <class Set, class SetRepeated, class Add, class T>
  void put(int i, Set set, SetRepeated set_repeated, Add add, const T& value) {
    if (!field_.is_repeated()) {
      (reflection_.*set)(&message_, &field_, value);
    } else if (i < reflection_.FieldSize(message_, &field_)) {
      (reflection_.*set_repeated)(&message_, &field_, i, value);
    } else {
      (reflection_.*add)(&message_, &field_, value);
    }
  }

  Message& message_;
  const FieldDescriptor& field_;
  const Reflection& reflection_;
  const Fields& fields_;
  RandomStream& random_;
};

}  // namespace

void change_fields(Message& message, RandomStream& random) {
  for (auto changes = 1 + random.below(3); changes > 0; --changes) {
    Fields fields;
    collect_fields(message, fields);
    if (fields.all.empty() || fields.texts.empty()) break;
    const auto& [within, field] = pick(random, fields.all);
    FieldChange(*within, *field, fields, random).make();
  }
}

std::string with_other_fields(const std::string& bytes, RandomStream& random) {
  ::onnx::ModelProto model;
  model.ParseFromString(bytes);
  change_fields(model, random);
  return model.SerializeAsString();
}

}  // namespace d5::fuzz
