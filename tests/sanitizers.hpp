// SPDX-License-Identifier: Apache-2.0
// Which sanitizer a test is compiled with: GCC defines a word for each, clang 19 answers a
// question.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define D5_UNDER_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define D5_UNDER_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define D5_UNDER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define D5_UNDER_THREAD_SANITIZER 1
#endif
#endif
