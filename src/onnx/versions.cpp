// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>

#include <limits>

#include "d5/core/errors/error.hpp"
#include "onnx/contrib_schemas.hpp"
#include "onnx/stages.hpp"
#include "onnx/walk.hpp"

namespace d5::onnx::detail {
namespace {

using Imports = google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>;

void normalise(std::string* domain) {
  if (*domain == "ai.onnx") domain->clear();
}

std::string shown(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : printable(domain);
}

/// ONNX's newest version of a domain; 0 for other domains.
int newest(const std::string& domain) {
  if (domain.empty()) return kNewestOpset;
  add_contrib_schemas();
  const auto& known = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto place = known.find(domain);
  return place == known.end() ? 0 : place->second.second;
}

std::map<std::string, int> read_imports(Imports& imports, const Source& source,
                                        const std::string& who) {
  std::map<std::string, int> result;
  for (auto& import : imports) {
    normalise(import.mutable_domain());
    const std::string domain = shown(import.domain());
    const std::int64_t version = import.version();
    const int most = newest(import.domain());
    const int least = most > 0 ? 1 : 0;  // other domains may count from 0
    if (version < least || version > std::numeric_limits<int>::max()) {
      source.fail(fmt::format("{} imports version {} of {}, expected one of {} or more", who,
                              version, domain, least));
    }
    if (most > 0 && version > most) {
      source.refuse(
          fmt::format("{} imports version {} of {}, but d5 knows versions up to {}; "
                      "convert it with onnx.version_converter, or export it for an older "
                      "opset",
                      who, version, domain, most));
    }
    const auto [place, is_new] = result.emplace(import.domain(), int(version));
    if (!is_new && place->second != version) {
      source.fail(fmt::format("{} imports versions {} and {} of {}, expected one", who,
                              place->second, version, domain));
    }
  }
  return result;
}

/// Refuses experimental operators of early ONNX, which have no schema and pass the checker.
void refuse_experimental(const ::onnx::NodeProto& node, const Source& source) {
  if (!::onnx::checker::check_is_experimental_op(node)) return;
  source.refuse(
      fmt::format("node '{}' is a {}, an experimental operator that ONNX removed; "
                  "export the model with a newer exporter",
                  printable(node.name()), printable(node.op_type())));
}

}  // namespace

std::map<std::string, int> check_versions(::onnx::ModelProto& model, const Source& source) {
  if (model.ir_version() < 1) {
    source.fail(fmt::format("IR version is {}, expected one of 1 to {}; is it an ONNX model?",
                            model.ir_version(), kNewestIrVersion));
  }
  if (model.ir_version() > kNewestIrVersion) {
    source.refuse(
        fmt::format("IR version is {}, but d5 knows versions up to {}; save it with an "
                    "older release of onnx",
                    model.ir_version(), kNewestIrVersion));
  }
  if (!model.has_graph()) source.fail("it has no graph");
  auto imports = read_imports(*model.mutable_opset_import(), source, "the model");
  if (imports.empty() && model.ir_version() < 3) imports.emplace("", 1);
  const auto check_node = [&](::onnx::NodeProto& node, int) {
    normalise(node.mutable_domain());
    refuse_experimental(node, source);
  };
  for_each_node(*model.mutable_graph(), check_node);
  for (auto& function : *model.mutable_functions()) {
    normalise(function.mutable_domain());
    read_imports(*function.mutable_opset_import(), source,
                 fmt::format("function '{}'", printable(function.name())));
    for_each_node(function, check_node);
  }
  return imports;
}

}  // namespace d5::onnx::detail
