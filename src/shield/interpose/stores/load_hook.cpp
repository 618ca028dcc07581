// SPDX-License-Identifier: BSD-3-Clause
// Instrumented code calls this before each load (AUDIT-5). It uses general registers only (HOOK-7),
// like all code that it calls, except the code that stops the program.
#include "shield/interpose/stores/load_hook.hpp"

#include "shield/audit/call_site.hpp"
#include "shield/interpose/memory/view_parts.hpp"
#include "shield/view/line.hpp"

namespace scute::core::interpose {
namespace {

// Concurrent eviction and loading of the page, or a commit set, may make a line differ from its
// digest for a moment.
constexpr unsigned looks = 3;

bool is_stray(const view::file_view& view, const audit::store_audit& audit,
              uint64_t line) noexcept {
  for (unsigned i = 0; i < looks; ++i) {
    const uint64_t copied = audit.copied(line);
    if (view.is_committed(line) || audit.was_reported(line, copied)) return false;
  }
  return true;
}

}  // namespace

void on_load(const void* at, size_t n, const scute_shield_site* site) {
  if (n == 0) return;
  each_part(at, n, [site](guarded_file& file, uint64_t offset, uint64_t length) {
    audit::store_audit* const audit = file.audit();
    if (audit == nullptr || !audit->looks_for_strays()) return;
    const uint64_t end = view::line_of(offset + length - 1) + 1;
    for (uint64_t line = view::line_of(offset); line < end; ++line) {
      if (!is_stray(file.view(), *audit, line)) continue;
      const audit::call_site here(site);
      if (!audit->found_by_load(line) || audit->may_go_on()) continue;
      audit->report_loaded();
      file.view().halt();
      file.give_up();
    }
  });
}

}  // namespace scute::core::interpose
