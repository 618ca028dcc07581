// SPDX-License-Identifier: BSD-3-Clause
// The C library's functions behind the interposed ones.
#pragma once

#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <cstdarg>
#include <cstdio>

#include "interpose/next_call.hpp"

struct aiocb;
struct mmsghdr;
struct msghdr;
struct sigevent;
struct statx;
struct timespec;
struct timeval;

namespace scute::core::interpose::next {

#define SCUTE_NEXT(name, ...) inline constinit next_call<__VA_ARGS__> name{#name};
#define SCUTE_NEXT_OF(name, symbol, ...) inline constinit next_call<__VA_ARGS__> name{symbol};
#include "interpose/next_calls.inc"
#undef SCUTE_NEXT
#undef SCUTE_NEXT_OF

// Before main(): dlsym() is not for signal handlers.
void look_up_early() noexcept;

}  // namespace scute::core::interpose::next
