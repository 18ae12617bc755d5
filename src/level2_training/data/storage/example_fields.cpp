// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/storage/example_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr const char* kShape = "/shape";

/// Whether a feature's number of values does not determine a sample's shape.
bool has_shape_feature(const TensorDesc& desc) {
  return !desc.shape.is_static() && desc.shape.rank() > 1;
}

const char* word(Feature::Kind kind) {
  switch (kind) {
    case Feature::Kind::none:
      return "nothing";
    case Feature::Kind::bytes:
      return "bytes";
    case Feature::Kind::floats:
      return "floats";
    case Feature::Kind::integers:
      break;
  }
  return "integers";
}

}  // namespace

Feature::Kind kind_of(DType dtype) {
  if (dtype == DType::float32) return Feature::Kind::floats;
  return dtype == DType::int64 ? Feature::Kind::integers : Feature::Kind::bytes;
}

void ExampleFields::add(std::string_view example) {
  ++examples_;
  const auto visit = [this](const Feature& feature) {
    if (feature.name == kNameFeature) return;
    auto place = features_.find(feature.name);
    if (place == features_.end()) place = features_.emplace(feature.name, Seen{}).first;
    Seen& seen = place->second;
    const std::int64_t count = feature.count();
    seen.least = seen.examples == 0 ? count : std::min(seen.least, count);
    seen.most = std::max(seen.most, count);
    ++seen.examples;
    if (seen.kind == Feature::Kind::none) seen.kind = feature.kind;
    if (feature.kind != Feature::Kind::none && feature.kind != seen.kind) {
      throw FormatError(fmt::format("feature '{}' holds {}, but {} in samples before",
                                    printable(feature.name), word(feature.kind), word(seen.kind)));
    }
  };
  for_each_feature(example, std::ref(visit));
}

std::vector<Dataset::Field> ExampleFields::fields() const {
  std::vector<Dataset::Field> fields;
  for (const auto& [name, seen] : features_) {
    TensorDesc desc{seen.kind == Feature::Kind::floats     ? DType::float32
                    : seen.kind == Feature::Kind::integers ? DType::int64
                                                           : DType::string,
                    {}};
    const bool is_fixed = seen.examples == examples_ && seen.least == seen.most && seen.most > 0;
    if (!is_fixed || seen.most != 1) desc.shape = {is_fixed ? seen.most : kUnknownDim};
    fields.push_back({name, desc});
  }
  return fields;
}

ExampleReader::ExampleReader(const std::vector<Dataset::Field>& fields) : fields_(fields.size()) {
  for (std::size_t f = 0; f < fields.size(); ++f) {
    places_.emplace(fields[f].name, 2 * f);
    if (has_shape_feature(fields[f].desc)) places_.emplace(fields[f].name + kShape, 2 * f + 1);
  }
}

void ExampleReader::read(std::string_view example, SampleRow& row) const {
  thread_local std::vector<Feature> found;
  found.assign(2 * fields_, Feature{});
  const auto visit = [this](const Feature& feature) {
    const auto place = places_.find(feature.name);
    if (place != places_.end()) found[place->second] = feature;
  };
  try {
    for_each_feature(example, std::ref(visit));
  } catch (const FormatError& error) {
    row.fail(error.what());
  }
  for (std::size_t f = 0; f < fields_; ++f) {
    if (!row.wants(f)) continue;
    try {
      read(f, found[2 * f], found[2 * f + 1], row);
    } catch (const FormatError& error) {
      const std::string_view what = error.what();
      if (what.starts_with('\'')) throw;  // the row's own
      row.fail(f, std::string(what));
    }
  }
}

void ExampleReader::read(std::size_t field, const Feature& feature, const Feature& shape,
                         SampleRow& row) const {
  const TensorDesc& desc = row.desc(field);
  const Feature::Kind expected = kind_of(desc.dtype);
  const bool is_raw = expected == Feature::Kind::bytes && desc.dtype != DType::string;
  if (feature.kind != expected && feature.kind != Feature::Kind::none) {
    row.fail(field, fmt::format("holds {}, expected {}", word(feature.kind), word(expected)));
  }
  const std::int64_t count = feature.count();
  std::string_view bytes;
  if (is_raw) {
    if (count != 1) row.fail(field, fmt::format("has {} values, expected 1", count));
    const auto keep = [&bytes](std::string_view value) { bytes = value; };
    feature.for_each_bytes(std::ref(keep));
  }
  const std::int64_t elements = is_raw ? std::int64_t(bytes.size() / size_of(desc.dtype)) : count;

  std::vector<std::int64_t> own_dims;
  std::span<const std::int64_t> dims = desc.shape.dims();
  if (has_shape_feature(desc)) {
    own_dims.resize(std::size_t(shape.kind == Feature::Kind::integers ? shape.count() : 0));
    if (!own_dims.empty()) shape.read(own_dims.data());
    dims = own_dims;
  } else if (!desc.shape.is_static()) {
    own_dims = {elements};
    dims = own_dims;
  }
  std::int64_t product = 1;
  bool fits = true;
  for (const std::int64_t dim : dims) {
    fits = fits && dim >= 0 && !__builtin_mul_overflow(product, dim, &product);
  }
  if (!fits || product != elements) {
    row.fail(field, fmt::format("has {} values, which do not make {} of shape {}", elements,
                                name_of(desc.dtype), to_string(Shape(dims))));
  }
  if (is_raw) {
    row.put(field, dims, bytes);
  } else if (desc.dtype == DType::string) {
    std::string* to = row.texts(field, dims);
    const auto keep = [&to](std::string_view value) { (to++)->assign(value); };
    feature.for_each_bytes(std::ref(keep));
  } else if (desc.dtype == DType::float32) {
    feature.read(reinterpret_cast<float*>(row.numbers(field, dims)));
  } else {
    feature.read(reinterpret_cast<std::int64_t*>(row.numbers(field, dims)));
  }
}

void add_features(const std::vector<Dataset::Field>& fields, std::span<const Tensor> sample,
                  ExampleWriter& writer) {
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto& [name, desc] = fields[f];
    const Tensor tensor = sample[f].on_host();
    if (desc.dtype == DType::string) {
      const auto texts = tensor.span<std::string>();
      writer.add_bytes(name, std::vector<std::string_view>(texts.begin(), texts.end()));
    } else if (desc.dtype == DType::float32) {
      writer.add_floats(name, tensor.span<float>());
    } else if (desc.dtype == DType::int64) {
      writer.add_integers(name, tensor.span<std::int64_t>());
    } else {
      const std::string_view bytes{static_cast<const char*>(tensor.raw()), tensor.bytes()};
      writer.add_bytes(name, std::span(&bytes, 1));
    }
    if (has_shape_feature(desc))
      writer.add_integers(name + kShape, tensor.shape().dims().subspan(1));
  }
}

}  // namespace d5::detail
