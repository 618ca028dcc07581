// SPDX-License-Identifier: BSD-3-Clause
// Functions that hooks call: general registers only (HOOK-7).
#include "shield/audit/call_site.hpp"

namespace scute::core::audit {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local constinit const scute_shield_site* at = nullptr;

}  // namespace

call_site::call_site(const scute_shield_site* here) noexcept : before_(at) {
  at = here;
}

call_site::~call_site() {
  at = before_;
}

const scute_shield_site* call_site::current() noexcept {
  return at;
}

}  // namespace scute::core::audit
