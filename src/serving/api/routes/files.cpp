// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/numbers/whole_number.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/json_answer.hpp"
#include "serving/api/kept_answer.hpp"
#include "serving/kept/kept_models.hpp"

namespace d5::route {
namespace {

std::uint64_t byte_number(const HttpRequest& request, const std::string& name) {
  const auto number = detail::whole_number<std::uint64_t>(request.asked(name));
  if (number) return *number;
  throw ValueError(
      fmt::format("{}={}: expected a number of bytes", name, printable(request.asked(name))));
}

HttpResponse answer_piece(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {"offset", "bytes"});
  detail::FileUploads& uploads = detail::expect_kept(context).uploads();
  const detail::FileUploads::Piece piece{.sha256 = request.parameter("sha256"),
                                         .bytes = byte_number(request, "bytes"),
                                         .offset = byte_number(request, "offset"),
                                         .content = request.body};
  try {
    const std::uint64_t here = uploads.take(piece);
    constexpr int kOk = 200, kCreated = 201;
    return detail::json_answer({{"sha256", piece.sha256}, {"bytes", piece.bytes}, {"here", here}},
                               here == piece.bytes ? kCreated : kOk);
  } catch (const MemoryError& error) {
    constexpr int kTooLarge = 413;
    return HttpResponse::problem(kTooLarge, error.what());
  }
}

}  // namespace

void register_files(Registry<RouteEntry>& registry) {
  registry.add("PUT /v1/files/{sha256}",
               {.summary = "take a piece of a file that a manifest names by its digest",
                .role = ServingRole::admin,
                .answer = answer_piece});
}

}  // namespace d5::route
