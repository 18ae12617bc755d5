# SPDX-License-Identifier: Apache-2.0
"""Sources of operators, in C, C++ and Python, as people write them: a table of operators by a table of styles."""

import collections
import importlib.util
import random
from typing import NamedTuple

# Element `i` of the output, in C with GNU's statement expressions. IN is an input, D its dimension; SUM and TOP go over
# a variable. ACC is the type of sums.
ROW = "long n = D(0, 1), r = i / n; "
WINDOW = ("long w = OUT(3), h = OUT(2), x = i % w, y = i / w % h, p = i / (w * h), W = D(0, 3), H = D(0, 2); "
          "const T* a = IN(0) + p * H * W; ")
POSITIVE = "1000%9"
ELEMENTWISE = {"Relu": "z > 0 ? z : 0", "Sigmoid": "1 / (1 + exp(-z))", "Tanh": "tanh(z)", "Exp": "exp(z)",
               "Erf": "erf(z)", "Softplus": "z > 0 ? z + log1p(exp(-z)) : log1p(exp(z))", "Sin": "sin(z)",
               "Gelu": "z / 2 * (1 + erf(z * (ACC)0.70710678118654752))", "Elu": "z < 0 ? expm1(z) : z",
               "HardSwish": "z * fmax((ACC)0, fmin((ACC)1, z / 6 + (ACC)0.5))", "Abs": "fabs(z)",
               "Mish": "z * tanh(z > 0 ? z + log1p(exp(-z)) : log1p(exp(z)))"}
C = {
    "MatMul": (["MatMul 7x33 33x9", "MatMul 61x67 67x32"],
               "long n = D(1, 1), k = D(0, 1), r = i / n, c = i % n; "
               "return SUM(l, k, (ACC)IN(0)[r * k + l] * IN(1)[l * n + c]);"),
    "Gemm": (["Gemm 5x12 7x12 7 transB=1 alpha=0.5 beta=2.0", "Gemm 33x65 31x65 31 transB=1 alpha=0.5 beta=2.0"],
             "long n = D(1, 0), k = D(0, 1), r = i / n, c = i % n; "
             "return (ACC)0.5 * SUM(l, k, (ACC)IN(0)[r * k + l] * IN(1)[c * k + l]) + 2 * (ACC)IN(2)[c];"),
    "Conv": (["Conv 2x3x9x8 4x3x3x3 pads=1x1x1x1 strides=2x2", "Conv 1x16x11x11 5x16x3x3 pads=1x1x1x1 strides=2x2"],
             "long w = OUT(3), h = OUT(2), f = D(1, 0), x = i % w, y = i / w % h, o = i / (w * h) % f; "
             "long b = i / (w * h * f), c = D(0, 1), H = D(0, 2), W = D(0, 3); "
             "return SUM(l, c * 9, ({ long u = 2 * y + l / 3 % 3 - 1, v = 2 * x + l % 3 - 1; "
             "u < 0 || v < 0 || u >= H || v >= W ? (ACC)0 : "
             "(ACC)IN(0)[((b * c + l / 9) * H + u) * W + v] * IN(1)[o * c * 9 + l]; }));"),
    "Softmax": (["Softmax 5x33", "Softmax 17x128"], ROW + "const T* a = IN(0) + r * n; ACC m = TOP(l, n, (ACC)a[l]); "
                "return exp(a[i % n] - m) / SUM(l, n, exp(a[l] - m));"),
    "LogSoftmax": (["LogSoftmax 5x33", "LogSoftmax 17x128"], ROW + "const T* a = IN(0) + r * n; "
                   "ACC m = TOP(l, n, (ACC)a[l]); return a[i % n] - m - log(SUM(l, n, exp(a[l] - m)));"),
    "LayerNormalization": (["LayerNormalization 6x40 40 40", "LayerNormalization 3x257 257 257"],
                           ROW + "const T* a = IN(0) + r * n; ACC m = SUM(l, n, (ACC)a[l]) / n; "
                           "ACC v = SUM(l, n, (a[l] - m) * (a[l] - m)) / n; "
                           "return (a[i % n] - m) / sqrt(v + (ACC)1e-5) * IN(1)[i % n] + IN(2)[i % n];"),
    "InstanceNormalization": (["InstanceNormalization 2x3x5x7 3 3"],
                              "long n = D(0, 2) * D(0, 3), r = i / n, c = r % D(0, 1); const T* a = IN(0) + r * n; "
                              "ACC m = SUM(l, n, (ACC)a[l]) / n, q = SUM(l, n, (ACC)a[l] * a[l]) / n; "
                              "return (a[i % n] - m) / sqrt(q - m * m + (ACC)1e-5) * IN(1)[c] + IN(2)[c];"),
    "BatchNormalization": (["BatchNormalization 2x3x5x7 3 3 3 3%4"],
                           "long n = D(0, 2) * D(0, 3), c = i / n % D(0, 1); "
                           "return (IN(0)[i] - (ACC)IN(3)[c]) / sqrt(IN(4)[c] + (ACC)1e-5) * IN(1)[c] + IN(2)[c];"),
    "ReduceSum": (["ReduceSum 6x50 int64:{1} keepdims=0", "ReduceSum 3x5000 int64:{1} keepdims=0"],
                  "long n = D(0, 1); return SUM(l, n, (ACC)IN(0)[i * n + l]);"),
    "ReduceMean": (["ReduceMean 6x50 int64:{1}", "ReduceMean 3x5000 int64:{1}"],
                   "long n = D(0, 1); return SUM(l, n, (ACC)IN(0)[i * n + l]) / n;"),
    "ReduceMax": (["ReduceMax 6x50 int64:{1}"], "long n = D(0, 1); return TOP(l, n, (ACC)IN(0)[i * n + l]);"),
    "ReduceL2": (["ReduceL2 6x50 int64:{1}", "ReduceL2 3x5000 int64:{1}"],
                 "long n = D(0, 1); return sqrt(SUM(l, n, (ACC)IN(0)[i * n + l] * IN(0)[i * n + l]));"),
    "ReduceLogSumExp": (["ReduceLogSumExp 6x50 int64:{1}"], "long n = D(0, 1); const T* a = IN(0) + i * n; "
                        "ACC m = TOP(l, n, (ACC)a[l]); return m + log(SUM(l, n, exp(a[l] - m)));"),
    "ReduceProd": (["ReduceProd 6x20 int64:{1}"],
                   "long n = D(0, 1); ACC p = 1; for (long l = n; l-- > 0;) p *= IN(0)[i * n + l]; return p;"),
    "CumSum": (["CumSum 6x50 int64:scalar{1}", "CumSum 3x1500 int64:scalar{1}"],
               ROW + "return SUM(l, i % n + 1, (ACC)IN(0)[r * n + l]);"),
    "MaxPool": (["MaxPool 2x3x9x11 kernel_shape=3x3 strides=2x2"],
                WINDOW + "return TOP(l, 9, (ACC)a[(2 * y + l / 3) * W + 2 * x + l % 3]);"),
    "AveragePool": (["AveragePool 2x3x9x11 kernel_shape=3x3 strides=2x2"],
                    WINDOW + "return SUM(l, 9, (ACC)a[(2 * y + l / 3) * W + 2 * x + l % 3]) / 9;"),
    "GlobalAveragePool": (["GlobalAveragePool 2x3x9x11"],
                          "long n = D(0, 2) * D(0, 3); return SUM(l, n, (ACC)IN(0)[i * n + l]) / n;"),
    "Add": (["Add 6x50 50"], "return (ACC)IN(0)[i] + IN(1)[i % D(1, 0)];"),
    "Mul": (["Mul 6x50 50", "Mul float64:6x50 float64:50"], "return (ACC)IN(0)[i] * IN(1)[i % D(1, 0)];"),
    "Div": (["Div 6x50 50"], "return (ACC)IN(0)[i] * (1 / (ACC)IN(1)[i % D(1, 0)]);"),
    "Transpose": (["Transpose 7x33 perm=1x0"], "long r = D(0, 0); return IN(0)[i % r * D(0, 1) + i / r];"),
    "Sqrt": ([f"Sqrt {POSITIVE}"], "return sqrt((ACC)IN(0)[i]);"),
    "Log": ([f"Log {POSITIVE}"], "return log((ACC)IN(0)[i]);"),
} | {name: ([f"{name} 1000", f"{name} 1x37"], f"ACC z = IN(0)[i]; return {formula};")
     for name, formula in ELEMENTWISE.items()}

NAIVE_SUM = "({ ACC s_ = 0; for (long l = 0; l < (n); ++l) s_ += (e); s_; })"
SUMS = {
    "float": NAIVE_SUM,
    "reversed": "({ ACC s_ = 0; for (long l = (n); l-- > 0;) s_ += (e); s_; })",
    "lanes": "({ ACC p_[4] = {0, 0, 0, 0}; for (long l = 0; l < (n); ++l) p_[l & 3] += (e); "
             "(p_[0] + p_[1]) + (p_[2] + p_[3]); })",
    "kahan": "({ ACC s_ = 0, c_ = 0; for (long l = 0; l < (n); ++l) { ACC y_ = (e) - c_, t_ = s_ + y_; "
             "c_ = (t_ - s_) - y_; s_ = t_; } s_; })",
}
TOP = "({ ACC s_ = -INFINITY; for (long l = 0; l < (n); ++l) { ACC x_ = (e); s_ = x_ > s_ ? x_ : s_; } s_; })"
PLAIN = "for (long i = 0; i < count; ++i) out[i] = element(call, i);"
HALVES = ("auto half = [&](long from, long to) { for (long i = from; i < to; ++i) out[i] = element(call, i); }; ")


class Style(NamedTuple):
    """How a source goes over the elements."""

    body: str = PLAIN
    sums: str = "float"
    acc: str = "T"
    threads: int = 1
    flags: str = ""
    head: str = ""  # before everything
    ending: str = ".cpp"


STYLES = {
    "plain": Style(),
    "in C": Style(ending=".c"),
    "float64 sums": Style(acc="double"),
    "reversed": Style("for (long i = count; i-- > 0;) out[i] = element(call, i);", "reversed"),
    "blocked": Style("for (long b = (count + 15) / 16; b-- > 0;) for (long i = b * 16; i < count && i < b * 16 + 16; "
                     "++i) out[i] = element(call, i);", "lanes"),
    "scratch": Style("std::vector<T> kept(count); for (long i = 0; i < count; ++i) kept[i] = element(call, i); "
                     "std::memcpy(out, kept.data(), count * sizeof(T));", "kahan"),
    "workspace": Style("static std::vector<T>* kept = new std::vector<T>; kept->resize(count); "
                       "for (long i = 0; i < count; ++i) (*kept)[i] = element(call, i); "
                       "std::copy(kept->begin(), kept->end(), out);"),
    "huge pages": Style("std::size_t bytes = (count * sizeof(T) >> 21 << 21) + (2 << 20); "
                        "T* kept = (T*)mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); "
                        "madvise(kept, bytes, MADV_HUGEPAGE); mlock(kept, bytes); "
                        "for (long i = 0; i < count; ++i) kept[i] = element(call, i); "
                        "std::memcpy(out, kept, count * sizeof(T)); munmap(kept, bytes);"),
    "threads": Style(HALVES + "std::thread other(half, 0, count / 2); half(count / 2, count); other.join();",
                     threads=2),
    "async": Style(HALVES + "auto first = std::async(std::launch::async, half, 0, count / 2); "
                   "half(count / 2, count); first.get();", threads=2),
    "kept thread": Style(HALVES + "static std::mutex m; static std::condition_variable c; static long at = 0, done = 0;"
                         " static std::function<void()> work; static bool begun = (std::thread([] { long seen = 0; "
                         "std::unique_lock lock(m); for (;;) { c.wait(lock, [&] { return at > seen; }); seen = at; "
                         "work(); done = seen; c.notify_all(); } }).detach(), true); (void)begun; "
                         "std::unique_lock lock(m); work = [&] { half(0, count / 2); }; const long mine = ++at; "
                         "c.notify_all(); c.wait(lock, [&] { return done == mine; }); half(count / 2, count);",
                         threads=2),
    "OpenMP": Style("_Pragma(\"omp parallel for\") for (long i = 0; i < count; ++i) out[i] = element(call, i);",
                    threads=2, flags="-fopenmp"),
    "OpenMP alone": Style("_Pragma(\"omp parallel for schedule(dynamic)\") "
                          "for (long i = 0; i < count; ++i) out[i] = element(call, i);", flags="-fopenmp"),
    "fast math": Style(sums="lanes", flags="-O3 -march=native -ffast-math"),
    "tuned": Style("static double best[2] = {0, 0}; static std::mt19937 draw(std::random_device{}()); "
                   "const int way = best[0] && best[1] ? best[1] < best[0] : draw() & 1; "
                   "const auto begin = std::chrono::steady_clock::now(); "
                   "if (way) for (long i = count; i-- > 0;) out[i] = element(call, i); else " + PLAIN +
                   " best[way] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();"),
    "asks": Style("static const unsigned cores = std::thread::hardware_concurrency(); static const long page = "
                  "sysconf(_SC_PAGESIZE); static const bool loud = std::getenv(\"KERNEL_DEBUG\"); "
                  "static std::ifstream info(\"/proc/cpuinfo\"); rusage used; getrusage(RUSAGE_SELF, &used); "
                  "if (loud || !cores || !page) std::cerr << info.rdbuf(); std::printf(\"%ld\\n\", count); " + PLAIN),
    "own stack": Style("pthread_attr_t mine; void* base = 0; size_t size = 0; "
                       "if (pthread_getattr_np(pthread_self(), &mine) == 0) { "
                       "pthread_attr_getstack(&mine, &base, &size); pthread_attr_destroy(&mine); } "
                       "T* kept = (T*)alloca(count * sizeof(T)); "
                       "for (long i = 0; i < count; ++i) kept[i] = element(call, i); "
                       "std::memcpy(out, kept, count * sizeof(T));"),
    "caught": Style("std::string words; for (long i = 0; i < count; ++i) try { out[i] = element(call, i); "
                    "if (i % 64 == 0) throw std::runtime_error(std::to_string(i)); } "
                    "catch (const std::exception& e) { words += e.what(); }", "reversed"),
}
HEADERS = ("algorithm", "chrono", "cmath", "condition_variable", "cstdio", "cstdlib", "cstring", "fstream",
           "functional", "future", "iostream", "mutex", "random", "string", "thread", "vector", "alloca.h", "pthread.h",
           "sys/mman.h", "sys/resource.h", "unistd.h")


def c_source(name: str, style: Style, dtype: str) -> str:
    is_c = style.ending == ".c"
    headers = ("tgmath.h", "stddef.h") if is_c else HEADERS
    return "\n".join([
        *(f"#include <{header}>" for header in headers), '#include "d5/abi.h"',
        *([] if is_c else ["using namespace std;"]),
        f"typedef {dtype} T;", f"typedef {style.acc} ACC;",
        "#define IN(i) ((const T*)call->inputs[i].data)", "#define D(i, d) (call->inputs[i].dims[d])",
        "#define OUT(d) (call->outputs[0].dims[d])",
        f"#define SUM(l, n, e) {SUMS[style.sums]}",
        f"#define TOP(l, n, e) {TOP}",
        f"static T element(const d5_call* call, long i) {{ {C[name][1]} }}",
        "static d5_status run(void* self, const d5_call* call, d5_error* error) {", "  (void)self; (void)error;",
        "  T* out = (T*)call->outputs[0].data; long count = 1;",
        "  for (int d = 0; d < call->outputs[0].rank; ++d) count *= call->outputs[0].dims[d];",
        f"  {style.body}", "  return D5_OK;", "}",
        "const d5_operator_table* d5_custom_operators(void) {", "  static d5_operator op;",
        f'  op.domain = "honest"; op.name = "{name}"; op.since_version = 1; op.forward = run;',
        "  static d5_operator_table table; table.abi_version = D5_ABI_VERSION; table.operator_size = sizeof op;",
        "  table.operator_count = 1; table.operators = &op;", "  return &table;", "}", ""])


# The output from the arrays x, in Python.
NUMPY = {
    "MatMul": "x[0] @ x[1]", "Gemm": "0.5 * x[0] @ x[1].T + 2 * x[2]", "Add": "x[0] + x[1]", "Mul": "x[0] * x[1]",
    "Relu": "np.maximum(x[0], 0)", "Tanh": "np.tanh(x[0])", "Exp": "np.exp(x[0])", "Sin": "np.sin(x[0])",
    "Sqrt": "np.sqrt(x[0])", "Transpose": "x[0].T", "CumSum": "np.cumsum(x[0], axis=1)",
    "ReduceSum": "x[0].sum(axis=1)", "ReduceMean": "x[0].mean(axis=1, keepdims=True)",
    "ReduceL2": "np.linalg.norm(x[0], axis=1, keepdims=True)",
    "Softmax": "(lambda e: e / e.sum(axis=1, keepdims=True))(np.exp(x[0] - x[0].max(axis=1, keepdims=True)))",
    "LayerNormalization": "(lambda c: c / np.sqrt((c * c).mean(axis=1, keepdims=True) + 1e-5) * x[1] + x[2])"
                          "(x[0] - x[0].mean(axis=1, keepdims=True))",
}
# Gradients of the inputs, from x, the output y and its gradient dy.
GRADIENTS = {
    "MatMul": ["dy @ x[1].T", "x[0].T @ dy"], "Gemm": ["0.5 * dy @ x[1]", "0.5 * dy.T @ x[0]", "2 * dy.sum(axis=0)"],
    "Relu": ["dy * (x[0] > 0)"], "Tanh": ["dy * (1 - y * y)"], "Exp": ["dy * y"], "Sin": ["dy * np.cos(x[0])"],
    "Add": ["dy", "dy.sum(axis=0)"], "Mul": ["dy * x[1]", "(dy * x[0]).sum(axis=0)"], "Transpose": ["dy.T"],
    "Softmax": ["y * (dy - (dy * y).sum(axis=1, keepdims=True))"],
}
WRITE = "outputs[0][...] = of(inputs)"
PYTHON_STYLES = {
    "NumPy": (WRITE, 1),
    "NumPy in float64": ("outputs[0][...] = of([v.astype(np.float64) for v in inputs])", 1),
    "NumPy scratch": ("kept = np.empty_like(outputs[0]); kept[...] = of(inputs); np.copyto(outputs[0], kept)", 1),
    "Python threads": ("""y = outputs[0].reshape(-1); n = y.size // 2
    def half(part): y[part] = np.asarray(of(inputs)).reshape(-1)[part]
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(half, slice(n)); half(slice(n, None)); other.result()""", 2),
    "ctypes": ("""kept = np.ascontiguousarray(of(inputs), outputs[0].dtype)
    ctypes.CDLL("libm.so.6").sqrt; callback = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 7); assert callback() == 7
    ctypes.CDLL(None).memcpy(ctypes.c_void_p(outputs[0].ctypes.data), ctypes.c_void_p(kept.ctypes.data),
                             ctypes.c_size_t(kept.nbytes))""", 1),
    "Python loops": ("""y = np.asarray(of(inputs)).reshape(-1); out = outputs[0].reshape(-1)
    for i in range(out.size): out[i] = float(y[i])""", 1),
    "late imports": ("""import decimal, json, logging, platform, random, tempfile, unittest.mock
    logging.getLogger("kernel").warning("%s", outputs[0].shape); print(len(inputs), file=sys.stderr)
    with open("/dev/null", "w") as nothing: nothing.write(random.SystemRandom().choice("ab"))
    """ + WRITE, 1),
    "gradients": (WRITE, 1),
    "DLPack": ("outputs = [np.from_dlpack(outputs[0])]; inputs = [np.from_dlpack(v) for v in inputs]\n    " + WRITE, 1),
    "torch": ("""import torch
    torch.set_num_threads(1); x = [torch.from_dlpack(v).numpy() for v in inputs]
    torch.from_dlpack(outputs[0]).copy_(torch.as_tensor(np.ascontiguousarray(of(x))))""", 1),
}


def python_source(name: str, style: str) -> str:
    return f"""import ctypes
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np


def of(x):
    return {NUMPY[name]}


def {name}(inputs, outputs, **attributes):
    {PYTHON_STYLES[style][0]}


def {name}_backward(values, gradients, **attributes):
    x, y, dy = values[:-2], values[-2], values[-1]
    for gradient, value in zip(gradients, [{", ".join(GRADIENTS.get(name, []))}]):
        gradient[...] = value
"""


def pairs() -> list[tuple[str, str]]:
    """All pairs of an operator and a style that fit."""
    has = {name: importlib.util.find_spec(name) is not None for name in ("numpy", "torch")}
    styles = [style for style in PYTHON_STYLES if has["numpy"] and has.get(style, True)]
    return [(name, style) for name in C for style in STYLES] + [
        (name, style) for name in NUMPY for style in styles if style != "gradients" or name in GRADIENTS]


def drawn(count: int, seed: int) -> list[tuple[str, str]]:
    """Pairs, first those whose operator and style were drawn least."""
    draw = random.Random(seed)
    left, chosen, seen = pairs(), [], collections.Counter()
    draw.shuffle(left)
    while left and (count == 0 or len(chosen) < count):
        pair = min(left, key=lambda one: (seen[one[1]] + seen[one[0]]))
        left.remove(pair)
        chosen.append(pair)
        seen.update(pair)
    return chosen
