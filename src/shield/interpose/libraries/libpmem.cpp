// SPDX-License-Identifier: BSD-3-Clause
// libpmem's calls. Bytes in a view are flushed and fenced there; libpmem handles all others.
#include <sys/types.h>

#include <cstddef>

#include "shield/interpose/calls/next_call.hpp"
#include "shield/interpose/libraries/view_store.hpp"
#include "shield/interpose/stores/durability.hpp"

using namespace scute::core::interpose;

namespace {

constexpr const char* library = "libpmem.so.1";
constinit next_call<void(const void*, size_t)> next_persist{"pmem_persist", library};
constinit next_call<void(const void*, size_t)> next_flush{"pmem_flush", library};
constinit next_call<void(const void*, size_t)> next_deep_flush{"pmem_deep_flush", library};
constinit next_call<int(const void*, size_t)> next_deep_drain{"pmem_deep_drain", library};
constinit next_call<int(const void*, size_t)> next_deep_persist{"pmem_deep_persist", library};
constinit next_call<int(const void*, size_t)> next_msync{"pmem_msync", library};
constinit next_call<void()> next_drain{"pmem_drain", library};
constinit next_call<int(const void*, size_t)> next_is_pmem{"pmem_is_pmem", library};
constinit next_call<void*(const char*, size_t, int, mode_t, size_t*, int*)> next_map_file{
    "pmem_map_file", library};
constinit next_call<void*(void*, const void*, size_t, unsigned)> next_memmove{"pmem_memmove",
                                                                              library};
constinit next_call<void*(void*, const void*, size_t, unsigned)> next_memcpy{"pmem_memcpy",
                                                                             library};
constinit next_call<void*(void*, int, size_t, unsigned)> next_memset{"pmem_memset", library};

void* moved(const next_call<void*(void*, const void*, size_t, unsigned)>& next, void* to,
            const void* from, size_t n, unsigned flags) noexcept {
  if (!in_view(to, n)) return next(to, from, n, flags);
  move_into_view(to, from, n, flags);
  return to;
}

void* filled(void* to, int byte, size_t n, unsigned flags) noexcept {
  if (!in_view(to, n)) return next_memset(to, byte, n, flags);
  fill_view(to, byte, n, flags);
  return to;
}

// Drains the bytes that the process has streamed or flushed outside of views.
void drain_rest() noexcept {
  if (next_drain.get() != nullptr) next_drain();
}

}  // namespace

SCUTE_INTERPOSED(void, pmem_flush, (const void* at, size_t n)) {
  if (!flush_lines(at, n)) next_flush(at, n);
}
SCUTE_INTERPOSED(void, pmem_drain, ()) {
  fence_views();
  drain_rest();
}
SCUTE_INTERPOSED(void, pmem_persist, (const void* at, size_t n)) {
  if (!flush_lines(at, n)) return next_persist(at, n);
  fence_views();
}
SCUTE_INTERPOSED(int, pmem_msync, (const void* at, size_t n)) {
  if (!flush_lines(at, n)) return next_msync(at, n);
  fence_views();
  return 0;
}
SCUTE_INTERPOSED(void, pmem_deep_flush, (const void* at, size_t n)) {
  if (!flush_lines(at, n)) next_deep_flush(at, n);
}
SCUTE_INTERPOSED(int, pmem_deep_drain, (const void* at, size_t n)) {
  if (!in_view(at, n)) return next_deep_drain(at, n);
  fence_views();
  return 0;
}
SCUTE_INTERPOSED(int, pmem_deep_persist, (const void* at, size_t n)) {
  if (!flush_lines(at, n)) return next_deep_persist(at, n);
  fence_views();
  return 0;
}
// True: flushes are enough, and must be used, as they report to the shield the bytes that must be
// durable.
SCUTE_INTERPOSED(int, pmem_is_pmem, (const void* at, size_t n)) {
  return in_view(at, n) ? 1 : next_is_pmem(at, n);
}
SCUTE_INTERPOSED(void*, pmem_map_file,
                 (const char* path, size_t n, int flags, mode_t mode, size_t* length,
                  int* is_pmem)) {
  size_t mapped = 0;
  void* const at = next_map_file(path, n, flags, mode, &mapped, is_pmem);
  if (length != nullptr) *length = mapped;
  if (at != nullptr && is_pmem != nullptr && in_view(at, mapped)) *is_pmem = 1;
  return at;
}

SCUTE_INTERPOSED(void*, pmem_memmove, (void* to, const void* from, size_t n, unsigned flags)) {
  return moved(next_memmove, to, from, n, flags);
}
SCUTE_INTERPOSED(void*, pmem_memcpy, (void* to, const void* from, size_t n, unsigned flags)) {
  return moved(next_memcpy, to, from, n, flags);
}
SCUTE_INTERPOSED(void*, pmem_memset, (void* to, int byte, size_t n, unsigned flags)) {
  return filled(to, byte, n, flags);
}
SCUTE_INTERPOSED(void*, pmem_memmove_persist, (void* to, const void* from, size_t n)) {
  return moved(next_memmove, to, from, n, 0);
}
SCUTE_INTERPOSED(void*, pmem_memcpy_persist, (void* to, const void* from, size_t n)) {
  return moved(next_memcpy, to, from, n, 0);
}
SCUTE_INTERPOSED(void*, pmem_memset_persist, (void* to, int byte, size_t n)) {
  return filled(to, byte, n, 0);
}
SCUTE_INTERPOSED(void*, pmem_memmove_nodrain, (void* to, const void* from, size_t n)) {
  return moved(next_memmove, to, from, n, store_no_drain);
}
SCUTE_INTERPOSED(void*, pmem_memcpy_nodrain, (void* to, const void* from, size_t n)) {
  return moved(next_memcpy, to, from, n, store_no_drain);
}
SCUTE_INTERPOSED(void*, pmem_memset_nodrain, (void* to, int byte, size_t n)) {
  return filled(to, byte, n, store_no_drain);
}
