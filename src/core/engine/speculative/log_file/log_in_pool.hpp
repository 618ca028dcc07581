// SPDX-License-Identifier: BSD-3-Clause
// The log of engine `spec` in the pool itself: the list of its chunks is in the ring of lane 0, the
// truncation point in that lane's status line.
#pragma once

#include "core/engine/speculative/log_file/log_location.hpp"

namespace scute::core::engine {

class log_in_pool : public log_location {
 public:
  log_in_pool(pool::state& s, heap::heap& h) noexcept : s_(s), heap_(h) {}

  medium::medium& target() const noexcept override { return *s_.medium; }
  bool is_apart() const noexcept override { return false; }
  bool was_closed() const noexcept override { return true; }  // the superblock says the same of it
  uint64_t truncation_at(uint64_t which, uint32_t copy) const noexcept override {
    return s_.geo.lane_offset(0, copy) + offsetof(format::lane_status, truncation_point) +
           which * 16;
  }
  uint32_t truncation_copies() const noexcept override { return s_.geo.lane_replicas; }
  segment_list read() const override;
  void write(medium::writer& w, segment_list& list) override { write_list(s_, w, list); }
  void keep(medium::writer& w, const segment_list& list) override;
  std::vector<list_copy> list_copies(const segment_list& list) override;
  size_t chunks_max() const noexcept override { return engine::chunks_max(s_); }
  std::vector<uint64_t> lend(pool::lane& l, const segment_list&, size_t chunks) override {
    return heap_.lend(l, chunks);
  }
  void retain(const segment_list& list) override { heap_.retain(list.chunks); }
  void take_back(pool::lane& l, std::vector<uint64_t>& chunks) override {
    heap_.take_back(l, chunks);
  }

 private:
  pool::state& s_;
  heap::heap& heap_;
};

}  // namespace scute::core::engine
