// SPDX-License-Identifier: BSD-3-Clause
#include "engine/speculative/pool_home.hpp"

#include "engine/speculative/horizon.hpp"

namespace scute::core::engine {

segment_list pool_home::read() const {
  std::optional<segment_list> list = read_list(s_);
  if (!list)
    throw failure(
        SCUTE_E_CORRUPT,
        s_.path +
            ": the list of log segments is damaged in all copies; restore the pool from a backup");
  return *std::move(list);
}

void pool_home::keep(medium::writer& w, const segment_list& list) {
  if (const horizon_found h = read_horizon(s_, *this); h.sequence != 0)
    stream_horizon(s_, *this, w, h);
  keep_list(s_, w, list);
}

std::vector<log_home::list_copy> pool_home::list_copies(const segment_list& list) const {
  std::vector<list_copy> all;
  for (const uint64_t at : engine::list_copies(s_, list)) all.push_back({at, list_image(s_, list)});
  return all;
}

}  // namespace scute::core::engine
