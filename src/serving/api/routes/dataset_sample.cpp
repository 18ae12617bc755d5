// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "core/numbers/whole_number.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/catalogue.hpp"

namespace d5::route {
namespace {

std::int64_t sample_number(const std::string& text) {
  const auto number = detail::whole_number<std::int64_t>(text);
  if (number && *number >= 0) return *number;
  throw NotFound("samples are numbered from 0, and '" + printable(text) + "' is no number");
}

/// Media type by the first bytes; other content is not shown by a browser.
const char* image_type(std::string_view bytes) {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> kTypes = {
      {{"\xff\xd8\xff", "image/jpeg"},
       {"\x89PNG", "image/png"},
       {"GIF8", "image/gif"},
       {"BM", "image/bmp"}}};
  for (const auto& [begin, type] : kTypes) {
    if (bytes.starts_with(begin)) return type;
  }
  return "application/octet-stream";
}

/// The content of the sample's file, after its digest was checked.
HttpResponse answer_sample(const HttpRequest& request, ServingContext&) {
  detail::expect_query(request, {});
  const auto found = detail::named_manifest<DatasetManifest>(request);
  const std::int64_t number = sample_number(request.parameter("number"));
  if (number >= std::int64_t(found.manifest.samples.size())) {
    throw NotFound(fmt::format("data set {} has {} samples that are files, and no number {}",
                               found.manifest.reference(), found.manifest.samples.size(), number));
  }
  const auto samples = open_samples(found.manifest);
  std::vector<Tensor> batch = empty_batch(*samples, 1);
  samples->read({&number, 1}, {}, batch);
  std::string& bytes = *batch.front().data<std::string>();
  const char* type = image_type(bytes);
  return {.headers = {{"Content-Type", type}}, .body = std::move(bytes)};
}

}  // namespace

void register_dataset_sample(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/datasets/{name}/samples/{number}",
               {.summary = "one sample of a data set whose files the server has",
                .role = ServingRole::view,
                .answer = answer_sample});
}

}  // namespace d5::route
