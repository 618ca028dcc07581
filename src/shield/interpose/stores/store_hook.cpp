// SPDX-License-Identifier: BSD-3-Clause
// Instrumented code calls this before each store. It uses general registers only (HOOK-7), like all
// code that it calls.
#include "shield/interpose/stores/store_hook.hpp"

#include "shield/audit/call_site.hpp"
#include "shield/interpose/memory/view_parts.hpp"
#include "shield/interpose/stores/reported_stores.hpp"

namespace scute::core::interpose {

void report_store(const void* at, size_t n) noexcept {
  each_part(at, n, [](guarded_file& file, uint64_t offset, uint64_t length) {
    if (audit::store_audit* const a = file.audit(); a != nullptr) a->report_store(offset, length);
  });
}

void on_store(const void* at, size_t n, const scute_shield_site* site) {
  const audit::call_site here(site);
  report_store(at, n);
}

}  // namespace scute::core::interpose
