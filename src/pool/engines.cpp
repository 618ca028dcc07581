// SPDX-License-Identifier: BSD-3-Clause
#include "pool/engines.hpp"

#include "codec/reed_solomon.hpp"

namespace scute::core::pool {
namespace {

constexpr engine_facts all[] = {
    {SCUTE_ENGINE_REDO, "redo", SCUTE_PROTECT_NONE, 1, false, false, true, false},
    {SCUTE_ENGINE_SPEC, "spec", SCUTE_PROTECT_NONE, codec::reed_solomon::parities_max, false, true,
     false, true},
    {SCUTE_ENGINE_LOGFREE, "logfree", SCUTE_PROTECT_MLPC, codec::reed_solomon::parities_max, true,
     true, true, false},
};

}  // namespace

std::span<const engine_facts> engines() noexcept {
  return all;
}

const engine_facts& lender_of_logs(uint32_t parities) noexcept {
  return *find_engine(
      static_cast<uint32_t>(parities > 1 ? SCUTE_ENGINE_LOGFREE : SCUTE_ENGINE_REDO));
}

const engine_facts* find_engine(uint32_t id) noexcept {
  for (const engine_facts& e : all)
    if (static_cast<uint32_t>(e.id) == id) return &e;
  return nullptr;
}

}  // namespace scute::core::pool
