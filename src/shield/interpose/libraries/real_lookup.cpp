// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/libraries/real_lookup.hpp"

#include <atomic>

#include "shield/interpose/libraries/symbol_table.hpp"

namespace scute::core::interpose::real_lookup {
namespace {

template <class F>
F once(std::atomic<F>& kept, const char* name) noexcept {
  F f = kept.load(std::memory_order_relaxed);
  if (f != nullptr) return f;
  f = reinterpret_cast<F>(function_behind_ours(name));
  kept.store(f, std::memory_order_relaxed);
  return f;
}

constinit std::atomic<plain_lookup> plain{nullptr};
constinit std::atomic<versioned_lookup> versioned{nullptr};

}  // namespace

plain_lookup dlsym() noexcept {
  return once(plain, "dlsym");
}
versioned_lookup dlvsym() noexcept {
  return once(versioned, "dlvsym");
}

void find_early() noexcept {
  dlsym();
  dlvsym();
  for_each_symbol_table([](const symbol_table&) { return true; });
}

}  // namespace scute::core::interpose::real_lookup
