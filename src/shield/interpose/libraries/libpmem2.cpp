// SPDX-License-Identifier: BSD-3-Clause
// libpmem2's calls. A program asks a map for the functions that make it durable; for a map of a
// view it gets ours. The library itself asks in the same way for its asynchronous calls, so these
// are intercepted too.
//
// GRAN-1 A map of a view has the granularity of a cache line, whatever the library has found:
//    stores without a flush are not noticed. So a program that needs stores to be durable by
//    themselves (granularity BYTE) gets no map.
#include <sys/types.h>

#include <cstddef>
#include <mutex>
#include <set>

#include "shield/interpose/calls/next_call.hpp"
#include "shield/interpose/libraries/view_store.hpp"
#include "shield/interpose/memory/map_sync.hpp"
#include "shield/interpose/stores/durability.hpp"

using namespace scute::core::interpose;

namespace {

// As in libpmem2, whose header need not exist to build this.
struct map;
struct config;
struct source;
constexpr int granularity_byte = 0, granularity_line = 1;
constexpr int granularity_not_supported = -100009;  // PMEM2_E_GRANULARITY_NOT_SUPPORTED

using range_function = void (*)(const void*, size_t);
using drain_function = void (*)();
using move_function = void* (*)(void*, const void*, size_t, unsigned);
using fill_function = void* (*)(void*, int, size_t, unsigned);

constexpr const char* library = "libpmem2.so.1";
constinit next_call<int(map**, const config*, const source*)> next_map_new{"pmem2_map_new",
                                                                           library};
constinit next_call<int(map**)> next_map_delete{"pmem2_map_delete", library};
constinit next_call<void*(map*)> next_address{"pmem2_map_get_address", library};
constinit next_call<int(map*)> next_granularity{"pmem2_map_get_store_granularity", library};
constinit next_call<int(config*, int)> next_set_granularity{
    "pmem2_config_set_required_store_granularity", library};
constinit next_call<int(config**)> next_config_delete{"pmem2_config_delete", library};
constinit next_call<range_function(map*)> next_persist{"pmem2_get_persist_fn", library};
constinit next_call<range_function(map*)> next_flush{"pmem2_get_flush_fn", library};
constinit next_call<drain_function(map*)> next_drain{"pmem2_get_drain_fn", library};
constinit next_call<move_function(map*)> next_memmove{"pmem2_get_memmove_fn", library};
constinit next_call<move_function(map*)> next_memcpy{"pmem2_get_memcpy_fn", library};
constinit next_call<fill_function(map*)> next_memset{"pmem2_get_memset_fn", library};
constinit next_call<int(map*, void*, size_t)> next_deep_flush{"pmem2_deep_flush", library};

bool is_of_view(map* m) noexcept {
  return in_view(next_address(m), 1);
}

// The functions for maps of views.
void flush(const void* at, size_t n) {
  flush_lines(at, n);
}
void drain() {
  fence_views();
}
void persist(const void* at, size_t n) {
  flush_and_fence(at, n);
}
void* move(void* to, const void* from, size_t n, unsigned flags) {
  move_into_view(to, from, n, flags);
  return to;
}
void* fill(void* to, int byte, size_t n, unsigned flags) {
  fill_view(to, byte, n, flags);
  return to;
}

// Remembers configurations that ask for granularity BYTE: no call returns that (GRAN-1).
class byte_configs {
 public:
  void set(const config* c, bool asks) {
    const std::lock_guard<std::mutex> guard(lock_);
    if (asks)
      all_.insert(c);
    else
      all_.erase(c);
  }
  bool holds(const config* c) {
    const std::lock_guard<std::mutex> guard(lock_);
    return all_.contains(c);
  }

 private:
  std::mutex lock_;
  std::set<const config*> all_;
};

byte_configs& asks_for_bytes() {
  static auto& all = *new byte_configs;
  return all;
}

}  // namespace

SCUTE_INTERPOSED(int, pmem2_config_set_required_store_granularity, (config * c, int granularity)) {
  const int result = next_set_granularity(c, granularity);
  if (result == 0) asks_for_bytes().set(c, granularity == granularity_byte);
  return result;
}
SCUTE_INTERPOSED(int, pmem2_config_delete, (config * *c)) {
  asks_for_bytes().set(*c, false);
  return next_config_delete(c);
}

SCUTE_INTERPOSED(int, pmem2_map_new, (map * *to, const config* c, const source* from)) {
  const map_sync_granted now;
  const int result = next_map_new(to, c, from);
  if (result != 0 || !asks_for_bytes().holds(c) || !is_of_view(*to)) return result;
  next_map_delete(to);
  return granularity_not_supported;
}
SCUTE_INTERPOSED(int, pmem2_map_get_store_granularity, (map * m)) {
  return is_of_view(m) ? granularity_line : next_granularity(m);
}

SCUTE_INTERPOSED(range_function, pmem2_get_persist_fn, (map * m)) {
  return is_of_view(m) ? &persist : next_persist(m);
}
SCUTE_INTERPOSED(range_function, pmem2_get_flush_fn, (map * m)) {
  return is_of_view(m) ? &flush : next_flush(m);
}
SCUTE_INTERPOSED(drain_function, pmem2_get_drain_fn, (map * m)) {
  return is_of_view(m) ? &drain : next_drain(m);
}
SCUTE_INTERPOSED(move_function, pmem2_get_memmove_fn, (map * m)) {
  return is_of_view(m) ? &move : next_memmove(m);
}
SCUTE_INTERPOSED(move_function, pmem2_get_memcpy_fn, (map * m)) {
  return is_of_view(m) ? &move : next_memcpy(m);
}
SCUTE_INTERPOSED(fill_function, pmem2_get_memset_fn, (map * m)) {
  return is_of_view(m) ? &fill : next_memset(m);
}
SCUTE_INTERPOSED(int, pmem2_deep_flush, (map * m, void* at, size_t n)) {
  if (!is_of_view(m) || !in_view(at, n)) return next_deep_flush(m, at, n);
  flush_and_fence(at, n);
  return 0;
}
