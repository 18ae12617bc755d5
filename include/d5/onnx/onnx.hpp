// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/onnx/file.hpp"
#include "d5/onnx/load_notes.hpp"
#include "d5/onnx/model.hpp"
#include "d5/onnx/model_image.hpp"
#include "d5/onnx/node_view.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/opset_conversion.hpp"
#include "d5/onnx/schema.hpp"
#include "d5/onnx/training_step.hpp"
#include "d5/onnx/visitor.hpp"
