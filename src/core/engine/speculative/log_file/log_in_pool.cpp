// SPDX-License-Identifier: BSD-3-Clause
#include "core/engine/speculative/log_file/log_in_pool.hpp"

#include "core/engine/speculative/recovery/truncation_point.hpp"

namespace scute::core::engine {

segment_list log_in_pool::read() const {
  std::optional<segment_list> list = read_list(s_);
  if (!list)
    throw failure(
        SCUTE_E_CORRUPT,
        s_.path +
            ": the list of log segments is damaged in all copies; restore the pool from a backup");
  return *std::move(list);
}

void log_in_pool::keep(medium::writer& w, const segment_list& list) {
  if (const truncation_found h = read_truncation_point(s_, *this); h.lsn != 0)
    stream_truncation_point(s_, *this, w, h);
  keep_list(s_, w, list);
}

std::vector<log_location::list_copy> log_in_pool::list_copies(const segment_list& list) {
  std::vector<list_copy> all;
  for (const uint64_t at : engine::list_copies(s_, list)) all.push_back({at, list_image(s_, list)});
  return all;
}

}  // namespace scute::core::engine
