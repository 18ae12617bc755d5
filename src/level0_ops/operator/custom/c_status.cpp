// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/custom/c_status.hpp"

#include <cstdio>
#include <exception>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

d5_status answer(d5_error* error, d5_status status, const char* message) {
  if (error) std::snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

}  // namespace

void throw_status(d5_status status, const std::string& message) {
  switch (status) {
    case D5_SHAPE_ERROR:
      throw ShapeError(message);
    case D5_TYPE_ERROR:
      throw TypeError(message);
    case D5_VALUE_ERROR:
      throw ValueError(message);
    case D5_UNSUPPORTED:
      throw Unsupported(message);
    case D5_COMMUNICATION_ERROR:
      throw CommunicationError(message);
    case D5_NOT_FOUND:
      throw NotFound(message);
    default:
      throw Error(message);
  }
}

d5_status answer_in_c(d5_error* error, const std::function<void()>& body) noexcept {
  try {
    body();
    return D5_OK;
  } catch (const ShapeError& thrown) {
    return answer(error, D5_SHAPE_ERROR, thrown.what());
  } catch (const TypeError& thrown) {
    return answer(error, D5_TYPE_ERROR, thrown.what());
  } catch (const ValueError& thrown) {
    return answer(error, D5_VALUE_ERROR, thrown.what());
  } catch (const Unsupported& thrown) {
    return answer(error, D5_UNSUPPORTED, thrown.what());
  } catch (const CommunicationError& thrown) {
    return answer(error, D5_COMMUNICATION_ERROR, thrown.what());
  } catch (const NotFound& thrown) {
    return answer(error, D5_NOT_FOUND, thrown.what());
  } catch (const std::exception& thrown) {
    return answer(error, D5_OTHER_ERROR, thrown.what());
  } catch (...) {
    return answer(error, D5_OTHER_ERROR, "something other than a std::exception was thrown");
  }
}

}  // namespace d5::detail
