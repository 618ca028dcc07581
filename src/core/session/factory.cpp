// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/factory.hpp"

#include "core/engine/logfree/logfree.hpp"
#include "core/engine/redo/redo.hpp"
#include "core/engine/speculative/speculative.hpp"

namespace scute::core {
namespace {

template <class Engine>
std::unique_ptr<tx::engine> make(pool::state& s, heap::heap& h) {
  return std::make_unique<Engine>(s, h);
}

struct maker {
  scute_engine id;
  std::unique_ptr<tx::engine> (*make)(pool::state& s, heap::heap& h);
};
constexpr maker makers[] = {
    {SCUTE_ENGINE_REDO, &make<engine::redo>},
    {SCUTE_ENGINE_LOGFREE, &make<engine::logfree>},
    {SCUTE_ENGINE_SPEC, &make<engine::speculative>},
};

}  // namespace

std::unique_ptr<tx::engine> make_engine(const pool::engine_facts& kind, pool::state& s,
                                        heap::heap& h) {
  for (const maker& m : makers)
    if (m.id == kind.id) return m.make(s, h);
  throw failure(SCUTE_E_UNSUPPORTED,
                s.path + ": this build has no engine " + std::string(kind.name));
}

}  // namespace scute::core
