// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "core/parsing/yaml_tree.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/canonical_json.hpp"
#include "evaluation/manifest/manifest_reader.hpp"
#include "evaluation/manifest/manifest_schema.hpp"
#include "evaluation/manifest/manifest_writer.hpp"

namespace d5 {
namespace {

using detail::YamlNode;

using detail::kManifestLimits;

/// The fault of the key `kind`; none if it is `expected`, or any kind if that is empty.
std::vector<ManifestFault> kind_faults(const YamlNode& root, const std::string& expected) {
  if (!root.is_map()) {
    // A file without content has no place.
    return {{std::max(root.line, 1), std::max(root.column, 1),
             "a manifest is a map; expected 'key: value' lines"}};
  }
  const YamlNode* kind = root.find("kind");
  const auto kinds = manifest_kinds().names();
  std::string known;
  for (const auto& name : kinds) known += (known.empty() ? "" : ", ") + name;
  if (!kind) return {{root.line, root.column, "'kind' is missing, expected one of " + known}};
  if (std::ranges::find(kinds, kind->text) == kinds.end()) {
    const auto nearest = nearest_names(kind->text, kinds);
    return {{kind->line, kind->column,
             fmt::format("kind: '{}' is none of {}{}", printable(kind->text), known,
                         nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest[0]))}};
  }
  if (!expected.empty() && kind->text != expected) {
    return {{kind->line, kind->column,
             fmt::format("is the manifest of a {}, expected that of a {}", kind->text, expected)}};
  }
  return {};
}

std::vector<ManifestFault> read(const YamlNode& root, const std::string& kind,
                                const detail::ManifestSource& source,
                                const std::function<void(ManifestFields&)>& declare) {
  std::vector<ManifestFault> faults = kind_faults(root, kind);
  if (!faults.empty()) return faults;
  detail::ManifestReader reader(root, source, faults);
  std::string told;
  reader.add("kind", told, "", {});
  declare(reader);
  reader.finish();
  std::ranges::stable_sort(faults, [](const auto& a, const auto& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return faults;
}

}  // namespace

std::string to_string(const ManifestFault& fault, const std::string& file) {
  return fmt::format("{}:{}:{}: {}", printable(file), fault.line, fault.column,
                     printable_message(fault.what));
}

std::vector<ManifestFault> lint_manifest(const std::string& text, const std::string& file,
                                         ManifestOrigin origin) {
  const YamlNode root = detail::parse_yaml(text, file, kManifestLimits);
  if (auto faults = kind_faults(root, ""); !faults.empty()) return faults;
  const std::string kind = root.find("kind")->text;
  return read(root, kind, {origin, detail::folder_of_manifest(file)},
              manifest_kinds().at(kind).declare_fresh);
}

std::string manifest_kind_of(const std::string& text, const std::string& file) {
  const YamlNode root = detail::parse_yaml(text, file, kManifestLimits);
  const YamlNode* kind = root.is_map() ? root.find("kind") : nullptr;
  return kind ? kind->text : "";
}

std::string manifest_schema(const std::string& kind) {
  const ManifestKind& entry = manifest_kinds().at(kind);
  detail::ManifestSchema fields;
  std::string told;
  fields.add("kind", told, "kind of the manifest", {.required = true, .words = {kind}});
  entry.declare_fresh(fields);
  nlohmann::ordered_json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                {"title", "d5 manifest: " + kind},
                                {"description", entry.summary}};
  schema.update(fields.object());
  return schema.dump(2) + "\n";
}

namespace detail {

std::string folder_of_manifest(const std::string& file) {
  std::error_code absent;
  if (std::filesystem::is_directory(file, absent)) return ".";  // as `described_folder` names it
  const std::string folder = std::filesystem::path(file).parent_path().string();
  return folder.empty() ? "." : folder;
}

void read_manifest(const std::string& text, const std::string& file, const std::string& kind,
                   ManifestOrigin origin, const std::function<void(ManifestFields&)>& declare) {
  const auto faults = read(parse_yaml(text, file, kManifestLimits), kind,
                           {origin, folder_of_manifest(file)}, declare);
  std::string all;
  for (const auto& fault : faults) all += (all.empty() ? "" : "\n") + to_string(fault, file);
  if (!faults.empty()) throw FormatError(all);
}

std::string canonical_manifest(const std::string& kind,
                               const std::function<void(ManifestFields&)>& declare,
                               const std::function<void(ManifestFields&)>& declare_fresh) {
  ManifestWriter writer, fresh;
  declare(writer);
  declare_fresh(fresh);
  auto object = ManifestWriter::without_defaults(writer, fresh);
  object["kind"] = kind;
  return canonical_json(object.dump(), kind + " manifest");
}

}  // namespace detail

std::string canonical_digest_of(const std::string& canonical) { return detail::sha256(canonical); }

}  // namespace d5
