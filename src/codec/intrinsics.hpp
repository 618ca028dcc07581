// SPDX-License-Identifier: BSD-3-Clause
// The x86 intrinsics, x86 variants only.
//
// GCC 12 spells "any value" in its AVX-512 header as a variable initialised with itself and then
// warns about it in every caller (GCC bug 105593). The warning is located in that header, so
// silencing it there leaves it on for our code.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
