// SPDX-License-Identifier: BSD-3-Clause
// Compile-time facts about the target that the variant files share.
//
// No file of the project is compiled with -march flags, because the same build must start on every
// x86-64 CPU and a stray vector instruction in a shared inline function would break that. Each
// kernel names its instruction set on the function instead, and run-time dispatch (dispatch.hpp)
// picks one.
#pragma once

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define SCUTE_CODEC_X86 1
#else
#define SCUTE_CODEC_X86 0
#endif

#define SCUTE_TARGET(isa) __attribute__((target(isa)))

// Kernels are built from small pieces with the same target. A lambda would not inherit the target,
// so the pieces are functions; forcing them inline keeps accumulators in registers.
#define SCUTE_TARGET_INLINE(isa) __attribute__((target(isa), always_inline)) inline
