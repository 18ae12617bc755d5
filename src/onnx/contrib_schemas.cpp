// SPDX-License-Identifier: Apache-2.0
#include "onnx/contrib_schemas.hpp"

#include <onnx/defs/schema.h>

#include <array>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace d5::onnx::detail {
namespace {

using ::onnx::AttributeProto;
using ::onnx::OpSchema;

constexpr const char *kMicrosoft = "com.microsoft", *kOnnx = "";

/// Schema of an operator, in lists of words:
/// - inputs and outputs as name:type, with suffix ? if optional and * if variadic, each value with
///   its own type;
/// - types as name=element type,...;
/// - attributes as name:kind, with suffix ! if required or =default.
struct Signature {
  const char *domain, *name, *inputs, *outputs, *types, *attributes;
};

/// ONNX Runtime's interfaces, with float64 in addition to other floats, for gradient checks. A
/// cache of GroupQueryAttention has the type of its queries. SimplifiedLayerNormalization, and
/// LayerNormalization before opset 17, are in ONNX's domain, but not defined by ONNX.
constexpr Signature kSignatures[] = {
    {kMicrosoft, "Attention",
     "input:T weights:T bias:T? mask_index:M? past:T? attention_bias:T? "
     "past_sequence_length:M?",
     "output:T present:T?", "M=int32 T=bfloat16,float16,float,double",
     "do_rotary:int mask_filter_value:float num_heads:int! "
     "past_present_share_buffer:int qkv_hidden_sizes:ints rotary_embedding_dim:int "
     "scale:float unidirectional:int=0"},
    {kMicrosoft, "BiasAdd", "X:T bias:T skip:T", "Y:T", "T=float16,float", ""},
    {kMicrosoft, "BiasDropout", "data:T bias:T residual:T? ratio:T1? training_mode:T2?",
     "output:T mask:T2?",
     "T=bfloat16,float16,float,double T1=bfloat16,float16,float,double T2=bool", "seed:int"},
    {kMicrosoft, "BiasGelu", "A:T B:T", "C:T", "T=bfloat16,float16,float,double", ""},
    {kMicrosoft, "BiasSoftmax", "data:T bias:T", "output:T", "T=float16,float,double",
     "axis:int=1 is_inner_broadcast:int!"},
    {kMicrosoft, "BiasSplitGelu", "X:T bias:T", "Y:T", "T=float16,float", ""},
    {kMicrosoft, "CDist", "A:T B:T", "C:T", "T=float,double", "metric:string=sqeuclidean"},
    {kMicrosoft, "DequantizeLinear", "x:T1 x_scale:T2 x_zero_point:T1?", "y:T2",
     "T1=int4,uint4,int8,uint8,int16,uint16,int32 T2=float16,float", "axis:int"},
    {kMicrosoft, "DynamicQuantizeLSTM",
     "X:T W:T2 R:T2 B:T? sequence_lens:T1? initial_h:T? initial_c:T? P:T? W_scale:T "
     "W_zero_point:T2 R_scale:T R_zero_point:T2",
     "Y:T? Y_h:T? Y_c:T?", "T=float T1=int32 T2=int8,uint8",
     "activation_alpha:floats activation_beta:floats activations:strings clip:float "
     "direction:string=forward hidden_size:int input_forget:int=0"},
    {kMicrosoft, "DynamicQuantizeMatMul", "A:T1 B:T2 b_scale:T1 b_zero_point:T2? bias:T1?", "Y:T1",
     "T1=float T2=int8,uint8", ""},
    {kMicrosoft, "EmbedLayerNormalization",
     "input_ids:T1 segment_ids:T1? word_embedding:T position_embedding:T "
     "segment_embedding:T? gamma:T beta:T mask:T1? position_ids:T1?",
     "output:T mask_index:T1? embedding_sum:T?", "T=float16,float,double T1=int32",
     "epsilon:float=1e-12 mask_index_type:int"},
    {kMicrosoft, "FastGelu", "X:T bias:T?", "Y:T", "T=bfloat16,float16,float,double", ""},
    {kMicrosoft, "FusedMatMul", "A:T B:T", "Y:T", "T=bfloat16,float16,float,double",
     "alpha:float=1 transA:int=0 transB:int=0 transBatchA:int=0 transBatchB:int=0"},
    {kMicrosoft, "GatherBlockQuantized", "data:T1 indices:Tind scales:T2 zero_points:T1?",
     "output:T2",
     "T1=int4,uint4,uint8,float8e4m3fn,float8e4m3fnuz,float8e5m2,float8e5m2fnuz,float4e2m1 "
     "T2=bfloat16,float16,float Tind=int32,int64",
     "bits:int=4 block_size:int=128 gather_axis:int=0 quantize_axis:int=1"},
    {kMicrosoft, "GatherND", "data:T indices:Tind", "output:T",
     "T=bool,int8,uint8,int16,uint16,int32,uint32,int64,uint64,float16,float,double,string,"
     "complex64,complex128 "
     "Tind=int32,int64",
     ""},
    {kMicrosoft, "Gelu", "X:T", "Y:T", "T=bfloat16,float16,float,double", ""},
    {kMicrosoft, "GridSample", "X:T1 Grid:T1", "Y:T2",
     "T1=bool,int8,uint8,int16,uint16,int32,uint32,int64,uint64,float16,float,double,string,"
     "complex64,complex128 "
     "T2=float16,float,double",
     "align_corners:int=0 mode:string=bilinear padding_mode:string=zeros"},
    {kMicrosoft, "GroupNorm", "X:T gamma:M beta:M", "Y:T", "M=float16,float T=float16,float",
     "activation:int! channels_last:int=1 epsilon:float=1e-05 groups:int!"},
    {kMicrosoft, "GroupQueryAttention",
     "query:T key:T? value:T? past_key:T? past_value:T? seqlens_k:M "
     "total_sequence_length:M cos_cache:T? sin_cache:T? position_ids:I? "
     "attention_bias:T? head_sink:T? k_scale:T_KV_SCALE? v_scale:T_KV_SCALE? "
     "q_norm_weight:T? k_norm_weight:T?",
     "output:T present_key:T? present_value:T? output_qk:T?",
     "I=int64 M=int32 T=bfloat16,float16,float,double "
     "T_KV_SCALE=float",
     "causal:int=1 do_rotary:int k_quant_type:string=NONE kv_cache_bit_width:int "
     "kv_num_heads:int! local_window_size:int=-1 num_heads:int! "
     "qk_norm_epsilon:float=1e-06 qk_output:int=0 rotary_interleaved:int scale:float "
     "sliding_window_cache:int=0 smooth_softmax:int=-1 softcap:float "
     "v_quant_type:string=NONE"},
    {kMicrosoft, "Inverse", "X:T", "Y:T", "T=float16,float,double", ""},
    {kOnnx, "LayerNormalization", "X:T Scale:T B:T?", "Y:T Mean:U? InvStdDev:U?",
     "T=bfloat16,float16,float,double U=float,double",
     "axis:int=-1 epsilon:float=1e-05 stash_type:int=1"},
    {kMicrosoft, "MatMulBnb4", "A:T1 B:T2 absmax:T1", "Y:T1", "T1=bfloat16,float16,float T2=uint8",
     "K:int! N:int! block_size:int! quant_type:int! training_mode:int=0 transB:int=1"},
    {kMicrosoft, "MatMulInteger16", "A:T1 B:T2", "Y:T3",
     "T1=int16,uint16 T2=int16,uint16 T3=int32,uint32", ""},
    {kMicrosoft, "MatMulIntegerToFloat",
     "A:T1 B:T2 a_scale:T3 b_scale:T3 a_zero_point:T1? b_zero_point:T2? bias:T3?", "Y:T3",
     "T1=int8,uint8 T2=int8,uint8 T3=float16,float", ""},
    {kMicrosoft, "MatMulNBits", "A:T1 B:T2 scales:T1 zero_points:T3? g_idx:T4? bias:T1?", "Y:T1",
     "T1=bfloat16,float16,float,double T2=uint8 T3=uint8,bfloat16,float16,float,double T4=int32",
     "K:int! N:int! accuracy_level:int=0 bits:int=4 block_size:int! "
     "weight_prepacked:int=0"},
    {kMicrosoft, "MoE",
     "input:T router_probs:T fc1_experts_weights:T fc1_experts_bias:T? "
     "fc2_experts_weights:T fc2_experts_bias:T? fc3_experts_weights:T? "
     "fc3_experts_bias:T?",
     "output:T", "T=bfloat16,float16,float",
     "activation_alpha:float=1 activation_beta:float=0 activation_type:string=relu "
     "k:int=1 normalize_routing_weights:int=0 swiglu_fusion:int=0 swiglu_limit:float "
     "use_sparse_mixer:int=0"},
    {kMicrosoft, "MulInteger", "A:T A_zero_point:T? B:T B_zero_point:T?", "C:T1",
     "T=int8,uint8 T1=int32", ""},
    {kMicrosoft, "MultiHeadAttention",
     "query:T key:T? value:T? bias:T? key_padding_mask:M? attention_bias:T? "
     "past_key:T? past_value:T? past_sequence_length:M? cache_indirection:M?",
     "output:T present_key:T? present_value:T? qk:QK?",
     "M=int32 QK=bfloat16,float16,float,double T=bfloat16,float16,float,double",
     "mask_filter_value:float num_heads:int! scale:float unidirectional:int=0"},
    {kMicrosoft, "NhwcConv", "X:T W:T B:T?", "Y:T", "T=float16,float,double",
     "auto_pad:string=NOTSET dilations:ints group:int=1 kernel_shape:ints pads:ints "
     "strides:ints"},
    {kMicrosoft, "NhwcMaxPool", "x:T", "y:T", "T=int8,uint8",
     "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape:ints! "
     "pads:ints strides:ints"},
    {kMicrosoft, "Pad", "data:T pads:I value:T?", "output:T", "I=int64 T=float16,float,double",
     "mode:string=constant"},
    {kMicrosoft, "QAttention",
     "input:T1 weight:T2 bias:T3 input_scale:T3 weight_scale:T3 mask_index:T4? "
     "input_zero_point:T1? weight_zero_point:T2? past:T3?",
     "output:T3 present:T3?", "T1=int8,uint8 T2=int8,uint8 T3=float16,float T4=int32",
     "do_rotary:int mask_filter_value:float num_heads:int! "
     "past_present_share_buffer:int scale:float unidirectional:int=0"},
    {kMicrosoft, "QEmbedLayerNormalization",
     "input_ids:T1 segment_ids:T1? word_embedding_quant:T2 position_embedding_quant:T2 "
     "segment_embedding:T2? gamma_quant:T2 beta_quant:T2 mask:T1? "
     "word_embedding_scale:T position_embedding_scale:T segment_embedding_scale:T? "
     "gamma_scale:T beta_scale:T word_embedding_zero_point:T2 "
     "position_embedding_zero_point:T2 segment_embedding_zero_point:T2? "
     "gamma_zero_point:T2 beta_zero_point:T2",
     "layernorm_out:T mask_index_out:T1", "T=float T1=int32 T2=int8,uint8", "epsilon:float=1e-12"},
    {kMicrosoft, "QGemm",
     "A:TA a_scale:T a_zero_point:TA B:TB b_scale:T b_zero_point:TB C:TC? y_scale:T? "
     "y_zero_point:TYZ?",
     "Y:TY", "T=float TA=int8,uint8 TB=int8,uint8 TC=int32 TY=int8,uint8,float TYZ=int8,uint8",
     "alpha:float=1 transA:int=0 transB:int=0"},
    {kMicrosoft, "QLinearAdd",
     "A:T A_scale:F A_zero_point:T? B:T B_scale:F B_zero_point:T? C_scale:F "
     "C_zero_point:T?",
     "C:T", "F=float T=int8,uint8", ""},
    {kMicrosoft, "QLinearAveragePool", "X:T x_scale:F x_zero_point:T? y_scale:F y_zero_point:T?",
     "Y:T", "F=float T=int8,uint8",
     "auto_pad:string=NOTSET ceil_mode:int=0 channels_last:int=0 "
     "count_include_pad:int=0 kernel_shape:ints! pads:ints strides:ints"},
    {kMicrosoft, "QLinearConcat", "Y_scale:TF Y_zero_point:T8 inputs:TV*", "Y:T8",
     "T8=int8,uint8 TF=float TV=int8,uint8,float", "axis:int!"},
    {kMicrosoft, "QLinearConv",
     "x:T1 x_scale:F x_zero_point:T1 w:T2 w_scale:F w_zero_point:T2 y_scale:F "
     "y_zero_point:T3 B:T4?",
     "y:T3", "F=float T1=int8,uint8 T2=int8,uint8 T3=int8,uint8 T4=int32",
     "auto_pad:string=NOTSET channels_last:int=0 dilations:ints group:int=1 "
     "kernel_shape:ints pads:ints strides:ints"},
    {kMicrosoft, "QLinearGlobalAveragePool",
     "X:T x_scale:F x_zero_point:T y_scale:F y_zero_point:T", "Y:T", "F=float T=int8,uint8",
     "channels_last:int=0"},
    {kMicrosoft, "QLinearLeakyRelu", "X:T X_scale:F X_zero_point:T? Y_scale:F Y_zero_point:T?",
     "Y:T", "F=float T=int8,uint8", "alpha:float=0.01"},
    {kMicrosoft, "QLinearMul",
     "A:T A_scale:F A_zero_point:T? B:T B_scale:F B_zero_point:T? C_scale:F "
     "C_zero_point:T?",
     "C:T", "F=float T=int8,uint8", ""},
    {kMicrosoft, "QLinearReduceMean",
     "data:T data_scale:F data_zero_point:T? reduced_scale:F reduced_zero_point:T?", "reduced:T",
     "F=float T=int8,uint8", "axes:ints! keepdims:int!"},
    {kMicrosoft, "QLinearSigmoid", "X:T X_scale:F X_zero_point:T? Y_scale:F Y_zero_point:T?", "Y:T",
     "F=float T=int8,uint8", ""},
    {kMicrosoft, "QLinearSoftmax", "X:T X_scale:F x_zero_point:T? y_scale:F y_zero_point:T", "Y:T",
     "F=float T=int8,uint8", "axis:int=-1 opset:int!"},
    {kMicrosoft, "QLinearWhere",
     "condition:B X:T x_scale:TF x_zero_point:T Y:T y_scale:TF y_zero_point:T "
     "z_scale:TF z_zero_point:T",
     "Z:T", "B=bool T=int8,uint8 TF=float", ""},
    {kMicrosoft, "QuantizeLinear", "x:T1 y_scale:T1 y_zero_point:T2?", "y:T2",
     "T1=float16,float T2=int4,uint4,int8,uint8,int16,uint16", "axis:int"},
    {kMicrosoft, "QuickGelu", "X:T", "Y:T", "T=bfloat16,float16,float,double", "alpha:float=1.702"},
    {kMicrosoft, "ReduceSumInteger", "data:T1", "reduced:T2", "T1=int8,uint8 T2=int32,uint32",
     "axes:ints! keepdims:int!"},
    {kMicrosoft, "RotaryEmbedding", "input:T position_ids:M cos_cache:T sin_cache:T", "output:T",
     "M=int64 T=bfloat16,float16,float,double",
     "interleaved:int is_packed_batching:int num_heads:int rotary_embedding_dim:int "
     "scale:float"},
    {kOnnx, "SimplifiedLayerNormalization", "X:T scale:V", "Y:V inv_std_var:U?",
     "T=bfloat16,float16,float,double U=float,double V=bfloat16,float16,float,double",
     "axis:int=-1 epsilon:float=1e-05 stash_type:int=1"},
    {kMicrosoft, "SkipGroupNorm", "X:T gamma:M beta:M skip:T bias:T?", "Y:T S:T?",
     "M=float16,float T=float16,float",
     "activation:int! channels_last:int=1 epsilon:float=1e-05 groups:int!"},
    {kMicrosoft, "SkipLayerNormalization", "input:T skip:T gamma:T beta:T? bias:T?",
     "output:T mean:U? inv_std_var:U? input_skip_bias_sum:T?",
     "T=bfloat16,float16,float,double U=float,double", "epsilon:float=1e-12"},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", "input:T skip:T gamma:T bias:T?",
     "output:T mean:U? inv_std_var:U? input_skip_bias_sum:T?",
     "T=bfloat16,float16,float,double U=float,double", "epsilon:float=1e-12"},
    {kMicrosoft, "Tokenizer", "X:T", "Y:T", "T=string",
     "mark:int! mincharnum:int! pad_value:string! separators:strings tokenexp:string"},
    {kMicrosoft, "Trilu", "X:T k:I?", "Y:T",
     "I=int64 "
     "T=bool,int8,uint8,int16,uint16,int32,uint32,int64,uint64,bfloat16,float16,float,double",
     "upper:int=1"}};

std::vector<std::string> words(const char* text, char separator = ' ') {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) result.push_back(word);
  return result;
}

/// The parts before and after `separator`; npos yields the whole word and nothing.
std::pair<std::string, std::string> cut(const std::string& word, std::size_t separator) {
  if (separator == std::string::npos) return {word, ""};
  return {word.substr(0, separator), word.substr(separator + 1)};
}

template <class Add>
void add_parameters(const char* text, const Add& add) {
  int place = 0;
  for (const std::string& word : words(text)) {
    auto [name, type] = cut(word, word.find(':'));
    auto option = OpSchema::Single;
    if (type.back() == '?') option = OpSchema::Optional;
    if (type.back() == '*') option = OpSchema::Variadic;
    if (option != OpSchema::Single) type.pop_back();
    add(place++, name, type, option);
  }
}

void add_attribute(OpSchema& schema, const std::string& word) {
  static const std::map<std::string_view, AttributeProto::AttributeType> kKinds = {
      {"int", AttributeProto::INT},       {"float", AttributeProto::FLOAT},
      {"string", AttributeProto::STRING}, {"ints", AttributeProto::INTS},
      {"floats", AttributeProto::FLOATS}, {"strings", AttributeProto::STRINGS}};
  const auto [name, rest] = cut(word, word.find(':'));
  const auto [kind, fallback] = cut(rest, rest.find_first_of("!="));
  const auto type = kKinds.at(kind);
  if (rest.find('=') == std::string::npos) {
    schema.Attr(name, "", type, rest.back() == '!');
  } else if (type == AttributeProto::INT) {
    schema.Attr(name, "", type, std::int64_t{std::stoll(fallback)});
  } else if (type == AttributeProto::FLOAT) {
    schema.Attr(name, "", type, std::stof(fallback));
  } else {
    schema.Attr(name, "", type, fallback);
  }
}

OpSchema schema_of(const Signature& from) {
  OpSchema schema;
  schema.SetName(from.name).SetDomain(from.domain).SinceVersion(1);
  add_parameters(from.inputs, [&](int i, const auto& name, const auto& type, auto option) {
    schema.Input(i, name, "", type, option, option != OpSchema::Variadic);
  });
  add_parameters(from.outputs, [&](int i, const auto& name, const auto& type, auto option) {
    schema.Output(i, name, "", type, option);
  });
  for (const std::string& word : words(from.types)) {
    const auto [name, list] = cut(word, word.find('='));
    std::vector<std::string> types;
    for (const auto& type : words(list.c_str(), ',')) types.push_back("tensor(" + type + ")");
    schema.TypeConstraint(name, types, "");
  }
  for (const std::string& word : words(from.attributes)) add_attribute(schema, word);
  return schema;
}

}  // namespace

void add_contrib_schemas() {
  static std::once_flag once;
  std::call_once(once, [] {
    (void)::onnx::OpSchemaRegistry::Instance();  // ONNX's own first
    auto& domains = ::onnx::OpSchemaRegistry::DomainToVersionRange::Instance();
    if (!domains.Map().contains(kMicrosoft)) domains.AddDomainToVersion(kMicrosoft, 1, 1);
    for (const Signature& one : kSignatures) {
      ::onnx::RegisterSchema(schema_of(one), 0, false, true);
    }
  });
}

}  // namespace d5::onnx::detail
