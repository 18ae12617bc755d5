// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

/// The functions of ONNX Runtime's C API that this plug-in calls. Source: the documentation of
/// `OrtApi`, a table of functions to which versions only append; each is listed here with its
/// index. The plug-in is loaded without ONNX Runtime's headers.
namespace d5::onnxruntime {

// ONNX Runtime's objects, used only by address.
struct Status;
struct Env;
struct Session;
struct SessionOptions;
struct RunOptions;
struct OrtValue;
struct MemoryInfo;
struct Allocator;
struct TypeInfo;
struct TypeAndShape;

/// Version of the API table that is requested: that of ONNX Runtime 1.17.
inline constexpr std::uint32_t kApiVersion = 17;

/// The table of functions. Throws: Unsupported if the library is missing, too old or too new.
[[nodiscard]] const void* const* api();
/// Version of the loaded library: "1.31.1".
[[nodiscard]] const char* version();

/// Throws the error of `status`, if it is not null, and frees it.
void check(Status* status);

/// The function at index `place`. One that returns a status throws its error.
template <std::size_t place, class F>
struct ApiFunction {
  template <class... Arguments>
  auto operator()(Arguments... arguments) const {
    // The table stores function pointers as data, as in the library's own header.
    const auto function = reinterpret_cast<F*>(const_cast<void*>(api()[place]));
    if constexpr (std::is_same_v<std::invoke_result_t<F*, Arguments...>, Status*>) {
      check(function(arguments...));
    } else {
      return function(arguments...);
    }
  }
};

/// Log messages below this level are not printed; errors are returned as statuses.
inline constexpr int kLogFatal = 4;
enum class ValueType : int { unknown = 0, tensor = 1, sequence = 2, map = 3, optional = 6 };

inline constexpr ApiFunction<1, int(const Status*)> kGetErrorCode;
inline constexpr ApiFunction<2, const char*(const Status*)> kGetErrorMessage;
inline constexpr ApiFunction<3, Status*(int level, const char* id, Env**)> kCreateEnv;
inline constexpr ApiFunction<7, Status*(const Env*, const char* path, const SessionOptions*,
                                        Session**)>
    kCreateSession;
inline constexpr ApiFunction<8, Status*(const Env*, const void* bytes, std::size_t count,
                                        const SessionOptions*, Session**)>
    kCreateSessionFromArray;
inline constexpr ApiFunction<9, Status*(Session*, const RunOptions*, const char* const* input_names,
                                        const OrtValue* const* inputs, std::size_t input_count,
                                        const char* const* output_names, std::size_t output_count,
                                        OrtValue** outputs)>
    kRun;
inline constexpr ApiFunction<10, Status*(SessionOptions**)> kCreateSessionOptions;
inline constexpr ApiFunction<13, Status*(SessionOptions*, int mode)> kSetExecutionMode;
inline constexpr ApiFunction<14, Status*(SessionOptions*, const char* prefix)> kEnableProfiling;
inline constexpr ApiFunction<23, Status*(SessionOptions*, int level)> kSetOptimizationLevel;
inline constexpr ApiFunction<24, Status*(SessionOptions*, int threads)> kSetIntraOpThreads;
inline constexpr ApiFunction<25, Status*(SessionOptions*, int threads)> kSetInterOpThreads;
inline constexpr ApiFunction<34, Status*(const Session*, std::size_t output, TypeInfo**)>
    kGetOutputType;
inline constexpr ApiFunction<48, Status*(Allocator*, const std::int64_t* shape, std::size_t rank,
                                         int type, OrtValue**)>
    kCreateTensor;
inline constexpr ApiFunction<49, Status*(const MemoryInfo*, void* data, std::size_t bytes,
                                         const std::int64_t* shape, std::size_t rank, int type,
                                         OrtValue**)>
    kCreateTensorWithData;
inline constexpr ApiFunction<51, Status*(OrtValue*, void** data)> kGetTensorData;
inline constexpr ApiFunction<52, Status*(OrtValue*, const char* const* texts, std::size_t count)>
    kFillStrings;
inline constexpr ApiFunction<53, Status*(const OrtValue*, std::size_t* bytes)> kGetStringsLength;
inline constexpr ApiFunction<54, Status*(const OrtValue*, void* bytes, std::size_t length,
                                         std::size_t* offsets, std::size_t count)>
    kGetStrings;
inline constexpr ApiFunction<56, Status*(const TypeInfo*, ValueType*)> kGetKind;
inline constexpr ApiFunction<60, Status*(const TypeAndShape*, int* type)> kGetElementType;
inline constexpr ApiFunction<61, Status*(const TypeAndShape*, std::size_t* rank)> kGetRank;
inline constexpr ApiFunction<62, Status*(const TypeAndShape*, std::int64_t* dims, std::size_t rank)>
    kGetDims;
inline constexpr ApiFunction<65, Status*(const OrtValue*, TypeAndShape**)> kGetTypeAndShape;
inline constexpr ApiFunction<67, Status*(const OrtValue*, ValueType*)> kGetValueType;
inline constexpr ApiFunction<69, Status*(int allocator_type, int memory_type, MemoryInfo**)>
    kCreateCpuMemoryInfo;
inline constexpr ApiFunction<76, Status*(Allocator*, void*)> kAllocatorFree;
inline constexpr ApiFunction<78, Status*(Allocator**)> kGetAllocator;
inline constexpr ApiFunction<80, Status*(const OrtValue*, int index, Allocator*, OrtValue**)>
    kGetElement;
inline constexpr ApiFunction<81, Status*(const OrtValue*, std::size_t*)> kGetElementCount;
inline constexpr ApiFunction<82, Status*(const OrtValue* const* elements, std::size_t count,
                                         ValueType, OrtValue**)>
    kCreateSequence;
inline constexpr ApiFunction<93, void(Status*)> kReleaseStatus;
inline constexpr ApiFunction<95, void(Session*)> kReleaseSession;
inline constexpr ApiFunction<96, void(OrtValue*)> kReleaseValue;
inline constexpr ApiFunction<98, void(TypeInfo*)> kReleaseTypeInfo;
inline constexpr ApiFunction<99, void(TypeAndShape*)> kReleaseTypeAndShape;
inline constexpr ApiFunction<100, void(SessionOptions*)> kReleaseSessionOptions;
inline constexpr ApiFunction<110, Status*(Session*, Allocator*, char** file)> kEndProfiling;
inline constexpr ApiFunction<130, Status*(SessionOptions*, const char* key, const char* value)>
    kAddSessionConfig;
inline constexpr ApiFunction<146, Status*(const Session*, std::uint64_t* ns)> kGetProfilingStart;

/// Frees an object of ONNX Runtime's.
struct Release {
  void operator()(Session* session) const { kReleaseSession(session); }
  void operator()(SessionOptions* options) const { kReleaseSessionOptions(options); }
  void operator()(OrtValue* value) const { kReleaseValue(value); }
  void operator()(TypeInfo* type) const { kReleaseTypeInfo(type); }
  void operator()(TypeAndShape* description) const { kReleaseTypeAndShape(description); }
};
template <class T>
using Handle = std::unique_ptr<T, Release>;

/// The object created by `create(arguments..., &object)`.
template <class T, class Create, class... Arguments>
[[nodiscard]] Handle<T> made_by(const Create& create, Arguments... arguments) {
  T* object = nullptr;
  create(arguments..., &object);
  return Handle<T>(object);
}

}  // namespace d5::onnxruntime
