// SPDX-License-Identifier: BSD-3-Clause
// The C library's functions after the interposed ones.
#pragma once

#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <threads.h>

#include <cstdarg>
#include <cstdio>

#include "shield/interpose/calls/next_call.hpp"

struct __jmp_buf_tag;
struct aiocb;
struct mmsghdr;
struct msghdr;
struct sigaction;
struct sigevent;
struct statfs;
struct statvfs;
struct statx;
struct timespec;
struct timeval;

namespace scute::core::interpose::next {

#define SCUTE_NEXT(name, ...) inline constinit next_call<__VA_ARGS__> name{#name};
#define SCUTE_NEXT_OF(name, symbol, ...) inline constinit next_call<__VA_ARGS__> name{symbol};
#include "shield/interpose/calls/next_calls.inc"
#undef SCUTE_NEXT
#undef SCUTE_NEXT_OF

// Called before main(): signal handlers must not call dlsym().
void look_up_early() noexcept;

}  // namespace scute::core::interpose::next
