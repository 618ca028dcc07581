// SPDX-License-Identifier: BSD-3-Clause
// Receives the reports of instrumented code (scute/shield_hooks.h).
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "scute/shield_hooks.h"
#include "shield/audit/call_site.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/stores/durability.hpp"
#include "shield/interpose/stores/hook_gates.hpp"
#include "shield/interpose/stores/load_hook.hpp"
#include "shield/interpose/stores/reported_stores.hpp"
#include "shield/interpose/stores/store_hook.hpp"

namespace scute::core::interpose {
namespace {

constexpr size_t images_max = 1024;
std::array<scute_shield_gate*, images_max> gates{};
size_t gate_count = 0;
uint64_t low = ~uint64_t{0}, high = 0;

void set_range(scute_shield_gate& gate) noexcept {
  std::atomic_ref(gate.low).store(low, std::memory_order_relaxed);
  std::atomic_ref(gate.high).store(high, std::memory_order_release);
}

int flush(const void* at, scute_shield_flush_kind kind, const scute_shield_site* site) {
  const int keep = errno;
  const audit::call_site here(site);
  const auto line = reinterpret_cast<uintptr_t>(at) & ~uintptr_t{63};
  const bool ours = flush_lines(reinterpret_cast<const void*>(line), 64);
  if (ours && kind == SCUTE_SHIELD_CLFLUSH) commit_flushed();
  errno = keep;
  return ours;
}

void fence(scute_shield_fence_kind, const scute_shield_site* site) {
  const int keep = errno;
  const audit::call_site here(site);
  fence_views();
  errno = keep;
}

// A streaming store is reported after it has happened (HOOK-1), and not before, unless compiled
// with `detect`.
void stream(const void* at, size_t n, const scute_shield_site* site) {
  const int keep = errno;
  const audit::call_site here(site);
  {
    const known_store now(at, n);
  }
  flush_lines(at, n);
  errno = keep;
}

void attach(scute_shield_gate* gate) {
  const critical now;
  if (gate_count < images_max) gates[gate_count++] = gate;
  set_range(*gate);
}

void detach(scute_shield_gate* gate) {
  const critical now;
  const auto end = gates.begin() + static_cast<ptrdiff_t>(gate_count);
  const auto found = std::find(gates.begin(), end, gate);
  if (found == end) return;
  *found = gates[--gate_count];
}

// The hooks that are compiled with general registers only, like store_hook.cpp, load_hook.cpp and
// what they call (HOOK-7).
#ifdef SCUTE_HOOKS_ARE_GENERAL
constexpr uint64_t general_only = SCUTE_SHIELD_HOOK_STORE | SCUTE_SHIELD_HOOK_LOAD;
#else
constexpr uint64_t general_only = 0;
#endif

constexpr scute_shield_hooks table{SCUTE_SHIELD_HOOKS_VERSION,
                                   sizeof(scute_shield_hooks),
                                   general_only,
                                   &flush,
                                   &fence,
                                   &stream,
                                   &on_store,
                                   &on_load,
                                   &attach,
                                   &detach};

}  // namespace

// The bounds only widen: an image that reads them while they change sees too wide a range, and
// never too narrow a one.
void open_gates() noexcept {
  low = std::min<uint64_t>(low, mappings.lowest());
  high = std::max<uint64_t>(high, mappings.highest());
  for (size_t i = 0; i < gate_count; ++i) set_range(*gates[i]);
}

}  // namespace scute::core::interpose

extern "C" [[gnu::visibility("default")]] const scute_shield_hooks* scute_shield_hooks_get(void) {
  return &scute::core::interpose::table;
}
