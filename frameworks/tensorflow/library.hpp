// SPDX-License-Identifier: Apache-2.0
// TensorFlow's C functions, resolved when the plug-in is loaded. The library is not linked, because
// its protobuf would conflict with the program's.
#pragma once

#include <tensorflow/c/c_api.h>
#include <tensorflow/c/c_api_experimental.h>
#include <tensorflow/c/eager/c_api.h>
#include <tensorflow/c/eager/c_api_experimental.h>

#define D5_TENSORFLOW_FUNCTIONS(F)     \
  F(TF_AddGradientsWithPrefix)         \
  F(TF_AddInput)                       \
  F(TF_AddInputList)                   \
  F(TF_AllocateTensor)                 \
  F(TF_AttrBuilderCheckCanRunOnDevice) \
  F(TF_AttrBuilderSetType)             \
  F(TF_AttrBuilderSetTypeList)         \
  F(TF_CloseSession)                   \
  F(TF_DeleteAttrBuilder)              \
  F(TF_DeleteGraph)                    \
  F(TF_DeleteSession)                  \
  F(TF_DeleteSessionOptions)           \
  F(TF_DeleteStatus)                   \
  F(TF_DeleteTensor)                   \
  F(TF_Dim)                            \
  F(TF_FinishOperation)                \
  F(TF_GetCode)                        \
  F(TF_GraphGetTensorNumDims)          \
  F(TF_GraphGetTensorShape)            \
  F(TF_Message)                        \
  F(TF_NewAttrBuilder)                 \
  F(TF_NewGraph)                       \
  F(TF_NewOperation)                   \
  F(TF_NewSession)                     \
  F(TF_NewSessionOptions)              \
  F(TF_NewStatus)                      \
  F(TF_NewTensor)                      \
  F(TF_NumDims)                        \
  F(TF_OpIsStateful)                   \
  F(TF_OperationGetAttrBool)           \
  F(TF_OperationGetAttrFloat)          \
  F(TF_OperationGetAttrFloatList)      \
  F(TF_OperationGetAttrInt)            \
  F(TF_OperationGetAttrIntList)        \
  F(TF_OperationGetAttrMetadata)       \
  F(TF_OperationGetAttrName)           \
  F(TF_OperationGetAttrNameLength)     \
  F(TF_OperationGetAttrShape)          \
  F(TF_OperationGetAttrString)         \
  F(TF_OperationGetAttrTensor)         \
  F(TF_OperationGetAttrType)           \
  F(TF_OperationGetAttrTypeList)       \
  F(TF_OperationGetNumAttrs)           \
  F(TF_OperationInput)                 \
  F(TF_OperationNumInputs)             \
  F(TF_OperationNumOutputs)            \
  F(TF_OperationOpType)                \
  F(TF_OperationOutputNumConsumers)    \
  F(TF_OperationOutputType)            \
  F(TF_SessionRun)                     \
  F(TF_SetAttrBool)                    \
  F(TF_SetAttrFloat)                   \
  F(TF_SetAttrInt)                     \
  F(TF_SetAttrIntList)                 \
  F(TF_SetAttrShape)                   \
  F(TF_SetAttrString)                  \
  F(TF_SetAttrTensor)                  \
  F(TF_SetAttrType)                    \
  F(TF_SetConfig)                      \
  F(TF_TensorData)                     \
  F(TF_TensorType)                     \
  F(TF_Version)                        \
  F(TFE_ContextOptionsSetConfig)       \
  F(TFE_DeleteContext)                 \
  F(TFE_DeleteContextOptions)          \
  F(TFE_DeleteOp)                      \
  F(TFE_DeleteTensorHandle)            \
  F(TFE_Execute)                       \
  F(TFE_NewContext)                    \
  F(TFE_NewContextOptions)             \
  F(TFE_NewOp)                         \
  F(TFE_OpAddInput)                    \
  F(TFE_OpReset)                       \
  F(TFE_OpSetAttrBool)                 \
  F(TFE_OpSetAttrFloat)                \
  F(TFE_OpSetAttrFloatList)            \
  F(TFE_OpSetAttrInt)                  \
  F(TFE_OpSetAttrIntList)              \
  F(TFE_OpSetAttrShape)                \
  F(TFE_OpSetAttrString)               \
  F(TFE_OpSetAttrType)                 \
  F(TFE_OpSetAttrTypeList)             \
  F(TFE_TensorHandleResolve)

namespace d5::tensorflow {

// Each under its own name: code of this namespace calls these pointers.
#define D5_DECLARE(NAME) inline constinit decltype(&::NAME) NAME = nullptr;
D5_TENSORFLOW_FUNCTIONS(D5_DECLARE)
#undef D5_DECLARE
// The library's header also declares a C++ function of this name.
using NewTensorHandle = TFE_TensorHandle*(const TF_Tensor*, TF_Status*);
inline constinit NewTensorHandle* TFE_NewTensorHandle = nullptr;

/// Resolves them, and returns the library's version. Throws: Unsupported if the library or a
/// function is missing, or the plug-in does not support the version.
const char* load_library();

}  // namespace d5::tensorflow
