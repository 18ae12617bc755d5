// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/serving/api/route.hpp"
#include "evaluation/manifest/kept_manifests.hpp"
#include "serving/api/json_answer.hpp"

namespace d5::detail {

/// All manifests of a kind that the server has; damaged ones are left out, because nobody can use
/// them.
template <class Manifest>
[[nodiscard]] std::vector<FoundManifest<Manifest>> carried() {
  std::vector<FoundManifest<Manifest>> all;
  for (const auto& name : carried_manifests(Manifest::kKind)) {
    try {
      all.push_back(find_manifest<Manifest>(name));
    } catch (const Error&) {
    }
  }
  return all;
}

/// The fields of any manifest in a list.
template <class Manifest>
[[nodiscard]] AnswerJson entry_json(const FoundManifest<Manifest>& found) {
  const Manifest& manifest = found.manifest;
  AnswerJson json{{"name", manifest.name},
                  {"version", manifest.version},
                  {"summary", manifest.summary},
                  {"sha256", found.digest},
                  {"kept", is_kept(found.file)}};
  if constexpr (requires { manifest.task; }) json["task"] = manifest.task;
  if constexpr (requires { manifest.licence; }) json["licence"] = manifest.licence;
  if constexpr (requires { manifest.source; }) json["source"] = manifest.source;
  return json;
}

/// Lists all manifests of a kind, page by page, each as `entry` formats it.
template <class Manifest>
[[nodiscard]] auto list_answer(AnswerJson (*entry)(const FoundManifest<Manifest>&)) {
  return [entry](const HttpRequest& request, ServingContext&) {
    expect_query(request, {"limit", "cursor"});
    return page_of(carried<Manifest>(), request, entry);
  };
}

/// The manifest that an address names. Throws: NotFound.
template <class Manifest>
[[nodiscard]] FoundManifest<Manifest> named_manifest(const HttpRequest& request) {
  const std::string& name = request.parameter("name");
  if (is_manifest_path(name)) throw NotFound("a manifest is named NAME or NAME@VERSION");
  return find_manifest<Manifest>(name);
}

/// A whole manifest, with its digest as the entity tag: a client that has it gets 304. Throws:
/// NotFound.
template <class Manifest>
[[nodiscard]] HttpResponse manifest_answer(const HttpRequest& request, ServingContext&) {
  expect_query(request, {});
  const auto found = named_manifest<Manifest>(request);
  const std::string tag = '"' + found.digest + '"';
  constexpr int kNotModified = 304;
  HttpResponse answer = HttpResponse::json(found.canonical);
  if (request.headers.at("if-none-match") == tag) answer = {.status = kNotModified};
  answer.headers.add("ETag", tag);
  answer.headers.add("Cache-Control", "no-cache");
  return answer;
}

}  // namespace d5::detail
