// SPDX-License-Identifier: Apache-2.0
// A shared library that is no plug-in of d5.
extern "C" int nothing_of_d5() { return 0; }
