// SPDX-License-Identifier: BSD-3-Clause
// The C library's functions behind the interposed ones.
#pragma once

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdio>

#include "interpose/next_call.hpp"

struct statx;

namespace scute::core::interpose::next {

#define SCUTE_NEXT(name, ...) inline constinit next_call<__VA_ARGS__> name{#name};
#include "interpose/next_calls.inc"
#undef SCUTE_NEXT

// Before main(): dlsym() is not for signal handlers.
void look_up_early() noexcept;

}  // namespace scute::core::interpose::next
